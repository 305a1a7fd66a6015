// SPDX-License-Identifier: MIT
// Kaiseki in the calling thread: the same code as in its worker.
import { LEARNING_RATE, MOMENTUM } from '../tasks.js';

export async function open({ threads, readText }) {
  const { load } = await import('kaiseki/sync');
  const kaiseki = await load({ threads });
  if (kaiseki.threads !== threads) throw new Error(`[kaiseki] expected ${threads} threads, got ${kaiseki.threads}`);
  const put = ({ values, shape }) => kaiseki.tensor(values, shape);
  const tasks = {
    T1: ({ a, b }) => [put(a).add(put(b))],
    T2: ({ a, b }) => [put(a).matmul(put(b))],
    T3: ({ a, b }) => [put(a).matmul(put(b))],
    T4: ({ a, b, bias, c }) => {
      const left = put(a);
      return [left.matmul(put(b)).add(put(bias)), left.transpose().matmul(put(c))];
    },
  };
  return {
    task(name, inputs) {
      const run = () =>
        kaiseki.tidy(() => ({ results: tasks[name](inputs).map((tensor) => tensor.toTypedArray()) })).results;
      return { run, values: (results) => results };
    },
    async train(name, { shape, images, labels }) {
      const network = kaiseki.network(await readText(`models/${name}.json`));
      const optimizer = kaiseki.optimizer('momentum', { learningRate: LEARNING_RATE, momentum: MOMENTUM });
      const x = kaiseki.tensor(images, shape),
        y = kaiseki.tensor(labels);
      return () => network.trainStep(optimizer, x, y).loss;
    },
  };
}
