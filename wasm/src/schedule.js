// SPDX-License-Identifier: MIT
// The learning rate of each minibatch, as nn/schedule.h computes it. Lengths are in epochs, as in a recipe.
import { expect } from './error.js';

const NAMES = ['constant', 'step', 'cosine', 'linear'];
/** Sums of fractions of an epoch are exact to this. */
const EXACT = 1e-9;

export function checkSchedule({ name = 'constant', epochs, done = 0, warmup = 0, stepSize }) {
  expect(NAMES.includes(name), 'train', `a schedule of ${NAMES.join(', ')}`, name);
  expect(epochs > 0, 'train', 'a schedule of more than 0 epochs', epochs);
  expect(done >= 0 && warmup >= 0, 'train', 'done and warmup of 0 or more', `${done} and ${warmup}`);
  expect(name !== 'step' || stepSize > 0, 'train', 'a stepSize above 0', stepSize);
}

/** Whether the schedule has ended after `epochs` epochs. */
export const isOver = (schedule, epochs) => (schedule.done ?? 0) + epochs >= schedule.epochs - EXACT;

/** The rate of a minibatch of `batch` samples that begins after `epochs` epochs of `count` samples. */
export function rateAt(schedule, base, epochs, batch, count) {
  const { name = 'constant', done = 0, warmup = 0, stepSize, gamma = 0.1, minimumRate = 0 } = schedule;
  const samples = (length) => Math.round(length * count);
  const first = samples(done + epochs),
    rise = samples(warmup),
    least = Math.min(minimumRate, base);
  let rate = base;
  if (name === 'step') rate *= gamma ** Math.floor(first / Math.max(1, samples(stepSize)));
  else if (name !== 'constant') {
    const length = Math.max(1, Math.max(1, samples(schedule.epochs)) - rise);
    const t = Math.min(1, Math.max(0, (first - rise) / length));
    rate = least + (base - least) * (name === 'linear' ? 1 - t : (1 + Math.cos(Math.PI * t)) / 2);
  }
  return first < rise ? rate * Math.min(1, (first + batch) / rise) : rate;
}
