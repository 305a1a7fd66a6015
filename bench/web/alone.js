// SPDX-License-Identifier: MIT
// Measures Kaiseki alone in Node, as `kaiseki bench` does: alone.js CASE THREADS SECONDS
// Prints the median milliseconds of one call. A case is a product such as 1000x1000x1000, without copies. A case may
// also be a training step of a network of models/ with batches of 64.
import { readFile } from 'node:fs/promises';
import { load } from 'kaiseki/sync';
import { median } from './measure.js';
import { batchOf } from './tasks.js';

const [name, threads, seconds] = process.argv.slice(2);
const kaiseki = await load({ threads: Number(threads) });

async function step() {
  if (/^\d+x\d+x\d+$/.test(name)) {
    const [m, n, k] = name.split('x').map(Number),
      a = kaiseki.uniform([m, k], { low: -1 }),
      b = kaiseki.uniform([k, n], { low: -1 });
    return () => a.matmul(b).dispose();
  }
  const network = kaiseki.network(await readFile(`models/${name}.json`, 'utf8')),
    optimizer = kaiseki.optimizer('momentum', { learningRate: 0.01 });
  const { shape, images, labels } = batchOf(name),
    x = kaiseki.tensor(images, shape),
    y = kaiseki.tensor(labels);
  return () => network.trainStep(optimizer, x, y);
}

const run = await step(),
  times = [];
for (const warm = performance.now() + 2000; performance.now() < warm;) run(); // V8's optimizing compiler ends within this time
const end = performance.now() + 1000 * Number(seconds);
do {
  const start = performance.now();
  run();
  times.push(performance.now() - start);
} while (performance.now() < end);
console.log(JSON.stringify({ milliseconds: median(times) }));
kaiseki.close();
