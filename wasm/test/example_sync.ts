// SPDX-License-Identifier: MIT
// Uses every part of the types of kaiseki/sync.
import { KaisekiError, Tensor, load, type Kaiseki, type Network } from 'kaiseki/sync';

function train(kaiseki: Kaiseki, network: Network): number {
  const data = kaiseki.digits({ count: 1000, seed: 1 });
  const optimizer = kaiseki.optimizer('adam', { learningRate: 0.001, clipNorm: 5 });
  const batch = kaiseki.batch(data, [1, 2, 3]);
  const { loss, correct } = network.trainStep(optimizer, batch.images, batch.labels.slice(0, 0, 3));
  network.backward(batch.images, batch.labels);
  network.addTar(network.gatherTar());
  network.step(optimizer, 0.1);
  const { accuracy, confusion } = network.evaluate(data, { batchSize: 100 });
  return loss + correct + accuracy + confusion.length;
}

export async function main(json: string, file: Uint8Array): Promise<Uint8Array> {
  const kaiseki = await load({ threads: 2 });
  const a: Tensor = kaiseki.tensor(new Float32Array(6), [2, 3]);
  const b: Tensor = kaiseki.tidy(() => a.transpose().matmul(a).add(1).sum([0]));
  const y: Tensor = kaiseki.elementwise('s*x', { s: 2, x: kaiseki.conv2d(a, b, { stride: [1, 2], bias: b }) });
  const network = kaiseki.network(json);
  try {
    train(kaiseki, network);
  } catch (error) {
    if (error instanceof KaisekiError && error.kind === 'OutOfMemory') kaiseki.trim();
  }
  // @ts-expect-error: not the name of a type
  kaiseki.empty([1], 'f64');
  // @ts-expect-error: not a format of weights
  network.saveWeights('onnx');
  for (const { name, value } of network.parameters) console.log(name, value.shape.length, y.item());
  console.log(
    network.summary.layers.length,
    network.activations(a, ['conv1']).length,
    kaiseki.mnist(file, file).images.size,
  );
  console.log(kaiseki.cifar10(file), kaiseki.picture(file, { width: 1, height: 1 }), kaiseki.memory().heap);
  return network.saveWeights('safetensors');
}
