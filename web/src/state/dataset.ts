// SPDX-License-Identifier: MIT
// Data sets: where they come from, and as a network's input needs them. Pictures stay bytes, in the worker.
import type { Data, Kaiseki, Source, Tensor } from 'kaiseki';
import { asPicture, fit, same, volume, type Picture } from '../logic/fit';
import { MNIST_FILES, sortFiles } from '../logic/files';

export type Origin = { kind: 'digits' } | { kind: 'files'; files: readonly File[] } | { kind: 'address'; address: string };

export interface Dataset {
  name: string;
  train: Data;
  test: Data;
  shape: Picture;
  classes: readonly string[];
  /** Whether what one draws could be one of them. */
  digits: boolean;
}

/** Testing takes no more than these of the test set, so that it never holds up training for long. */
const TESTED = 2000;
const DIGITS = Array.from({ length: 10 }, (_, i) => String(i));
const CIFAR = ['plane', 'car', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck'];

export async function open(kaiseki: Kaiseki, origin: Origin, report: (text: string) => void,
    signal?: AbortSignal): Promise<Dataset> {
  const onProgress = ({ loaded, total }: { loaded: number; total: number }) =>
    report(total ? `Loading data, ${Math.round(100 * loaded / total)}%` : `Loading data, ${(loaded / 1e6).toFixed(1)} MB`);
  const mnist = async (train: { images: Source; labels: Source }, test: { images: Source; labels: Source }) =>
    dataset('MNIST', await kaiseki.mnist(train, { onProgress, signal }), await kaiseki.mnist(test, { onProgress, signal }), DIGITS);
  if (origin.kind === 'digits')
    return dataset('Built-in digits', await kaiseki.digits({ count: 3000, train: true }),
      await kaiseki.digits({ count: 5000, train: false }), DIGITS);
  if (origin.kind === 'address') {
    const base = origin.address.replace(/\/*$/, '/');
    const [images, labels, testImages, testLabels] = MNIST_FILES.map((name) => new URL(`${name}.gz`, new URL(base, location.href)));
    return mnist({ images, labels }, { images: testImages, labels: testLabels });
  }
  const sorted = sortFiles(origin.files);
  if (sorted.kind === 'mnist') return mnist(sorted.train, sorted.test);
  return dataset('CIFAR-10', await kaiseki.cifar10(sorted.train, { onProgress, signal }),
    await kaiseki.cifar10(sorted.test, { onProgress, signal }), CIFAR);
}

async function dataset(name: string, train: Data, test: Data, classes: readonly string[]): Promise<Dataset> {
  const shape = asPicture(train.images.shape.slice(1));
  const tested = Math.min(TESTED, test.images.shape[0]);
  const some = { images: await test.images.slice(0, 0, tested), labels: await test.labels.slice(0, 0, tested) };
  test.images.dispose();
  test.labels.dispose();
  return { name, train, test: some, shape, classes, digits: classes === DIGITS };
}

/** The same pictures in the shape that a network reads; the data set itself where it has it. */
export async function fitted(kaiseki: Kaiseki, data: Dataset, input: readonly number[]): Promise<Dataset> {
  const shape = asPicture(input);
  if (same(shape, data.shape)) return data;
  return { ...data, shape, train: await reshaped(kaiseki, data.train, data.shape, shape),
    test: await reshaped(kaiseki, data.test, data.shape, shape) };
}

async function reshaped(kaiseki: Kaiseki, { images, labels }: Data, from: Picture, to: Picture): Promise<Data> {
  const bytes = fit(asBytes(await images.toTypedArray()), from, to);
  return { images: await kaiseki.tensor(bytes, [bytes.length / volume(to), ...to], 'u8', { transfer: true }), labels };
}

function asBytes(values: Float32Array | Int32Array | Uint8Array): Uint8Array<ArrayBuffer> {
  return values instanceof Uint8Array ? new Uint8Array(values) : Uint8Array.from(values, (value) => Math.round(255 * value));
}

export const tensors = (data: Dataset | null): Tensor[] =>
  (data ? [data.train, data.test].flatMap(({ images, labels }) => [images, labels]) : []);

/** One picture in 0..1, and its class. */
export async function sample(data: Dataset, index: number): Promise<{ pixels: Float32Array<ArrayBuffer>; label: number }> {
  const [image, label] = await Promise.all([data.test.images.slice(0, index, 1), data.test.labels.slice(0, index, 1)]);
  const [values, [found]] = await Promise.all([valuesOf(image), valuesOf(label)]);
  const scale = values instanceof Uint8Array ? 1 / 255 : 1;
  return { pixels: Float32Array.from(values, (value) => value * scale), label: found };
}

async function valuesOf(tensor: Tensor) {
  try {
    return await tensor.toTypedArray();
  } finally {
    tensor.dispose();
  }
}
