// SPDX-License-Identifier: MIT
// Training in the worker. Between steps the worker answers other requests.
import { KaisekiError, expect } from './error.js';
import { turn } from './turn.js';

/** Shuffles the indices. The order depends on the seed alone. */
function shuffled(kaiseki, count, seed) {
  const order = Int32Array.from({ length: count }, (_, i) => i);
  const draws = kaiseki.tidy(() => ({ values: kaiseki.uniform([count], { seed }).toTypedArray() })).values;
  for (let i = count - 1; i > 0; --i) {
    const j = Math.floor(draws[i] * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/** Images per second, averaged over about the last second of work. */
class Rate {
  #images = 0;
  #seconds = 0;
  add(images, seconds) {
    const fade = Math.exp(-seconds);
    this.#images = this.#images * fade + images;
    this.#seconds = this.#seconds * fade + seconds;
    return this.#images / this.#seconds;
  }
}

function check(name, value) {
  expect(value >= 1, 'train', `${name} of 1 or more`, value);
}

/** `settings` may change at any time. The caller then calls settings.wake(). */
export async function train(kaiseki, network, optimizer, data, settings, signal, onStep) {
  const { epochs = Infinity, steps = Infinity, shuffle = true, seed = 0 } = settings;
  const count = data.images.shape[0],
    rate = new Rate();
  if (data.labels.shape[0] !== count || !count)
    throw new KaisekiError(
      'ShapeError',
      `[train] expected as many labels as images, got ${data.labels.shape[0]} and ${count}`,
    );
  check('epochs', epochs);
  check('steps', steps);
  let progress,
    order,
    at = 0,
    epoch = 0;
  for (let step = 1; step <= steps && epoch < epochs; ++step) {
    while (settings.paused && !signal.aborted)
      await new Promise((resolve) => {
        settings.wake = resolve;
      });
    signal.throwIfAborted();
    const { batchSize, learningRate } = settings;
    check('a batch size', batchSize);
    const start = performance.now();
    if (at === 0 && (shuffle || !order))
      order = shuffle
        ? shuffled(kaiseki, count, (seed + epoch) % 2 ** 53)
        : Int32Array.from({ length: count }, (_, i) => i);
    const rows = order.subarray(at, at + batchSize);
    const { loss, correct } = kaiseki.tidy(() => {
      const batch = kaiseki.batch(data, rows);
      return network.trainStep(optimizer, batch.images, batch.labels, learningRate);
    });
    at += rows.length;
    if (at >= count) [at, epoch] = [0, epoch + 1];
    const imagesPerSecond = rate.add(rows.length, (performance.now() - start) / 1000);
    progress = { step, epoch, loss, accuracy: correct / rows.length, imagesPerSecond, learningRate, batchSize };
    onStep(progress);
    await turn();
  }
  return progress;
}
