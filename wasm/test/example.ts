// SPDX-License-Identifier: MIT
// Uses every part of the API's types. It is compiled but not run.
import {
  KaisekiError,
  Tensor,
  load,
  type Data,
  type Evaluation,
  type Kaiseki,
  type LayerSummary,
  type Network,
  type Progress,
  type Training,
} from 'kaiseki';

async function train(kaiseki: Kaiseki, network: Network, signal: AbortSignal): Promise<Evaluation> {
  const data: Data = await kaiseki.digits({ count: 1000, seed: 1 });
  const optimizer = await kaiseki.optimizer('adam', { learningRate: 0.001, clipNorm: 5 });
  const training: Training = kaiseki.train(network, optimizer, data, {
    batchSize: 32,
    epochs: 2,
    signal,
    onStep: ({ step, loss, imagesPerSecond }: Progress) => console.log(step, loss, imagesPerSecond),
  });
  training.learningRate /= 2;
  await training.pause();
  if (training.paused) training.resume();
  const { step, accuracy } = await training.finished;
  const [images, labels] = [await data.images.slice(0, 0, 64), await data.labels.slice(0, 0, 64)];
  const { loss, correct } = await network.trainStep(optimizer, images, labels);
  await network.backward(images, labels);
  await network.addTar(await network.gatherTar());
  await network.step(optimizer, 0.1);
  console.log(step + accuracy + loss + correct);
  return network.evaluate(data, { batchSize: 100, signal });
}

async function files(kaiseki: Kaiseki, picked: File): Promise<Data> {
  const picture: Tensor = await kaiseki.picture(picked, { width: 32, height: 32, channels: 1 });
  console.log(picture.shape.length, (await kaiseki.normalize(picture, { mean: [0.5], std: [0.5] })).dtype);
  await kaiseki.cifar10(['data_batch_1.bin', new Uint8Array(3073)]);
  const onProgress = ({ loaded, total }: { loaded: number; total: number }) => console.log(loaded / total);
  return kaiseki.mnist({ images: new URL('https://example.org/images.gz'), labels: picked }, { onProgress });
}

export async function main(json: string, picked: File): Promise<Uint8Array> {
  const kaiseki = await load({ threads: 2 }),
    stop = new AbortController();
  void kaiseki.closed.then((error) => console.log(error?.message));
  const a: Tensor = await kaiseki.tensor(new Float32Array(6), [2, 3], 'f32', { transfer: true });
  const b: Tensor = await kaiseki.tidy(async (scope) => (await (await scope.uniform([2, 3])).add(a)).sum([0]));
  const y: Tensor = await kaiseki.elementwise('s*x', {
    s: 2,
    x: await kaiseki.conv2d(a, b, { stride: [1, 2], bias: b }),
  });
  const network = await kaiseki.network(json);
  try {
    const { confusion } = await train(kaiseki, network, stop.signal);
    console.log(confusion.length);
  } catch (error) {
    if (error instanceof KaisekiError && error.kind === 'OutOfMemory') await kaiseki.trim();
    if (error instanceof KaisekiError && error.kind === 'Closed') stop.abort();
  }
  // @ts-expect-error: not the name of a type
  await kaiseki.empty([1], 'f64');
  // @ts-expect-error: not a format of weights
  await network.saveWeights('onnx');
  // @ts-expect-error: a promise, not a number
  const wrong: number = y.item();
  // @ts-expect-error: only the library can make this object
  new Tensor();
  const layers: readonly LayerSummary[] = network.layers;
  for (const { name, value } of await network.parameters())
    console.log(name, value.shape.length, await y.item(), layers.length);
  const [maps] = await network.activations(a, ['conv1']);
  maps?.dispose();
  await network.loadWeights(picked, { strict: false });
  const { heap, handles } = await kaiseki.memory();
  console.log(heap, handles, wrong, await files(kaiseki, picked));
  kaiseki.close();
  return network.saveWeights('safetensors');
}
