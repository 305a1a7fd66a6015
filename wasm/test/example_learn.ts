// SPDX-License-Identifier: MIT
// Uses every part of the types of kaiseki/learn.
import { KaisekiError, Model, load, type Learn, type Use } from 'kaiseki/learn';

function cluster(learn: Learn, x: Float32Array, rows: number): number[] {
  const model: Model = learn.model('KMeans', { n_clusters: 3 });
  try {
    return Array.from(model.fit(x, [rows, 2]).apply('predict', x, [rows, 2]));
  } finally {
    model.dispose();
  }
}

export async function main(file: Uint8Array): Promise<Uint8Array> {
  const learn = await load({ onProgress: ({ loaded }) => console.log(loaded) });
  const { images, labels, shape } = learn.digits({ count: 100, train: false });
  const x = Float32Array.from(images);
  const model = learn.model('SVC', { C: 10 }).fit(x, [shape[0], 784], labels);
  const use: Use | undefined = model.uses[0];
  try {
    console.log(model.name, model.task, model.hasScore, model.features, model.settings, model.classNames, use);
    console.log(model.score(x, [100, 784], labels), cluster(learn, x, 10), model.disposed);
  } catch (error) {
    if (error instanceof KaisekiError) console.log(error.kind);
  }
  // @ts-expect-error: not a use
  model.apply('guess', x, [100, 784]);
  // @ts-expect-error: no shape
  model.fit(x);
  const { values, tensors } = learn.load(file).state();
  for (const [name, { shape, values }] of Object.entries(tensors)) console.log(name, shape.length, values.length);
  console.log(
    values,
    learn.models.map(({ name, about, task }) => `${name} ${about} ${task}`),
    learn.memory().heap,
  );
  return model.save();
}
