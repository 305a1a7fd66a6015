// SPDX-License-Identifier: MIT
// Training in the worker. Between steps the worker answers other requests.
import { augment, parseAugmentation } from './augment.js';
import { KaisekiError, expect } from './error.js';
import { checkSchedule, isOver, rateAt } from './schedule.js';
import { turn } from './turn.js';

/** Numbers in [0, 1) that depend on the seed alone. */
const draw = (kaiseki, count, seed) =>
  kaiseki.tidy(() => ({ values: kaiseki.uniform([count], { seed }).toTypedArray() })).values;

/** Shuffles the indices. The order depends on the seed alone. */
function shuffled(kaiseki, count, seed) {
  const order = Int32Array.from({ length: count }, (_, i) => i);
  const draws = draw(kaiseki, count, seed);
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

/** Changes the pictures of a batch at random. The changes depend on the seed alone. */
function augmented(kaiseki, images, how, seed) {
  expect(images.shape.length === 4, 'train', 'pictures [n, channels, height, width] to augment', `[${images.shape}]`);
  const draws = draw(kaiseki, 3 * images.shape[0], seed);
  let at = 0;
  return kaiseki.tensor(
    augment(images.toTypedArray(), images.shape, how, () => draws[at++]),
    images.shape,
  );
}

function check(name, value) {
  expect(value >= 1, 'train', `${name} of 1 or more`, value);
}

/** `settings` may change at any time. The caller then calls settings.wake(). */
export async function train(kaiseki, network, optimizer, data, settings, signal, onStep) {
  const { epochs = Infinity, steps = Infinity, shuffle = true, seed = 0, schedule } = settings;
  const count = data.images.shape[0],
    rate = new Rate();
  if (data.labels.shape[0] !== count || !count)
    throw new KaisekiError(
      'ShapeError',
      `[train] expected as many labels as images, got ${data.labels.shape[0]} and ${count}`,
    );
  check('epochs', epochs);
  check('steps', steps);
  if (schedule) checkSchedule(schedule);
  const how = parseAugmentation(settings.augment),
    augments = how.flip || how.padding > 0;
  let progress,
    order,
    at = 0,
    epoch = 0,
    samples = 0;
  const ends = () => epoch >= epochs || (schedule && isOver(schedule, samples / count));
  for (let step = 1; step <= steps && !ends(); ++step) {
    while (settings.paused && !signal.aborted)
      await new Promise((resolve) => {
        settings.wake = resolve;
      });
    signal.throwIfAborted();
    const { batchSize } = settings;
    check('a batch size', batchSize);
    const learningRate = schedule
      ? rateAt(schedule, settings.learningRate, samples / count, Math.min(batchSize, count - at), count)
      : settings.learningRate;
    const start = performance.now();
    if (at === 0 && (shuffle || !order))
      order = shuffle
        ? shuffled(kaiseki, count, (seed + epoch) % 2 ** 53)
        : Int32Array.from({ length: count }, (_, i) => i);
    const rows = order.subarray(at, at + batchSize);
    const { loss, correct } = kaiseki.tidy(() => {
      const change = augments && ((images) => augmented(kaiseki, images, how, (seed * 2 ** 20 + step) % 2 ** 53));
      const batch = kaiseki.batch(data, rows, change);
      return network.trainStep(optimizer, batch.images, batch.labels, learningRate);
    });
    at += rows.length;
    samples += rows.length;
    if (at >= count) [at, epoch] = [0, epoch + 1];
    const imagesPerSecond = rate.add(rows.length, (performance.now() - start) / 1000);
    const accuracy = correct / rows.length;
    progress = { step, epoch, samples, loss, accuracy, imagesPerSecond, learningRate, batchSize };
    onStep(progress);
    await turn();
  }
  return progress;
}
