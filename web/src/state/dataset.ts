// SPDX-License-Identifier: MIT
// Data sets: their sources, and their conversion to a network's input. Pictures stay bytes, in the worker.
import type { Data, Kaiseki, Network, Source, Tensor } from 'kaiseki';
import { asPicture, fit, same, volume, type Picture } from '../logic/fit';
import { MNIST_FILES, sortFiles } from '../logic/files';
import { normalizationOf } from '../logic/recipe';

type MnistFiles = { images: Source; labels: Source };
export type Origin =
  { kind: 'digits' } | { kind: 'files'; files: readonly File[] } | { kind: 'address'; address: string };

export interface Dataset {
  name: string;
  train: Data;
  test: Data;
  shape: Picture;
  classes: readonly string[];
  /** Whether the classes are digits, which the user can draw. */
  digits: boolean;
}

/** Tests use at most this many samples of the test set, so that they do not delay training for long. */
const MAX_TEST_SAMPLES = 2000;
const DIGITS = Array.from({ length: 10 }, (_, i) => String(i));
const CIFAR = ['plane', 'car', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck'];

export async function open(
  kaiseki: Kaiseki,
  origin: Origin,
  report: (text: string) => void,
  signal?: AbortSignal,
): Promise<Dataset> {
  const onProgress = ({ loaded, total }: { loaded: number; total: number }) =>
    report(
      total ? `Loading data, ${Math.round((100 * loaded) / total)}%` : `Loading data, ${(loaded / 1e6).toFixed(1)} MB`,
    );
  const options = { onProgress, signal };
  const mnist = (train: MnistFiles, test: MnistFiles) =>
    dataset(
      kaiseki,
      'MNIST',
      DIGITS,
      (scope) => scope.mnist(train, options),
      (scope) => scope.mnist(test, options),
    );
  if (origin.kind === 'digits')
    return dataset(
      kaiseki,
      'Built-in digits',
      DIGITS,
      (scope) => scope.digits({ count: 3000, train: true }),
      (scope) => scope.digits({ count: 5000, train: false }),
    );
  if (origin.kind === 'address') {
    const base = origin.address.replace(/\/*$/, '/');
    const [images, labels, testImages, testLabels] = MNIST_FILES.map(
      (name) => new URL(`${name}.gz`, new URL(base, location.href)),
    );
    return mnist({ images, labels }, { images: testImages, labels: testLabels });
  }
  const sorted = sortFiles(origin.files);
  if (sorted.kind === 'mnist') return mnist(sorted.train, sorted.test);
  return dataset(
    kaiseki,
    'CIFAR-10',
    CIFAR,
    (scope) => scope.cifar10(sorted.train, options),
    (scope) => scope.cifar10(sorted.test, options),
  );
}

type Reading = (scope: Kaiseki) => Promise<Data>;

/** Reads a data set. If a part fails, all of it is freed. */
async function dataset(
  kaiseki: Kaiseki,
  name: string,
  classes: readonly string[],
  readTrain: Reading,
  readTest: Reading,
): Promise<Dataset> {
  const [images, labels, testImages, testLabels] = await kaiseki.tidy(async (scope) => {
    const train = await readTrain(scope),
      test = await readTest(scope);
    const tested = Math.min(MAX_TEST_SAMPLES, test.images.shape[0]);
    return [train.images, train.labels, await test.images.slice(0, 0, tested), await test.labels.slice(0, 0, tested)];
  });
  const shape = asPicture(images.shape.slice(1));
  return {
    name,
    train: { images, labels },
    test: { images: testImages, labels: testLabels },
    shape,
    classes,
    digits: classes === DIGITS,
  };
}

/** Converts a data set to a network's input shape, with the normalization of its recipe. */
export async function fitDataset(kaiseki: Kaiseki, data: Dataset, network: Network): Promise<Dataset> {
  const shape = asPicture(network.inputShape),
    how = normalizationOf(network.json.recipe ?? {}, shape[0]),
    train = { ...data.train, ...how },
    test = { ...data.test, ...how };
  if (same(shape, data.shape)) return { ...data, train, test };
  const [images, testImages] = await kaiseki.tidy(async (scope) => [
    await reshaped(scope, train.images, data.shape, shape),
    await reshaped(scope, test.images, data.shape, shape),
  ]);
  return { ...data, shape, train: { ...train, images }, test: { ...test, images: testImages } };
}

async function reshaped(kaiseki: Kaiseki, images: Tensor, from: Picture, to: Picture): Promise<Tensor> {
  const bytes = fit(asBytes(await images.toTypedArray()), from, to);
  return kaiseki.tensor(bytes, [bytes.length / volume(to), ...to], 'u8', { transfer: true });
}

function asBytes(values: Float32Array | Int32Array | Uint8Array): Uint8Array<ArrayBuffer> {
  return values instanceof Uint8Array
    ? new Uint8Array(values)
    : Uint8Array.from(values, (value) => Math.round(255 * value));
}

type Sets = readonly (Dataset | null)[];

const tensors = (sets: Sets): Tensor[] =>
  sets.flatMap((data) => (data ? [data.train.images, data.train.labels, data.test.images, data.test.labels] : []));

/** Frees the tensors of `sets` that `kept` does not use. */
export function dispose(sets: Sets, kept: Sets): void {
  const stay = tensors(kept);
  for (const tensor of tensors(sets)) if (!stay.includes(tensor)) tensor.dispose();
}

/** One picture in 0..1, and its class. */
export async function sample(
  data: Dataset,
  index: number,
): Promise<{ pixels: Float32Array<ArrayBuffer>; label: number }> {
  const { images, labels } = data.test;
  const [values, [found]] = await Promise.all([
    valuesOf(images.slice(0, index, 1)),
    valuesOf(labels.slice(0, index, 1)),
  ]);
  const scale = values instanceof Uint8Array ? 1 / 255 : 1;
  return { pixels: Float32Array.from(values, (value) => value * scale), label: found };
}

async function valuesOf(slice: Promise<Tensor>) {
  const tensor = await slice;
  try {
    return await tensor.toTypedArray();
  } finally {
    tensor.dispose();
  }
}
