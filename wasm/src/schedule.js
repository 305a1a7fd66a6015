// SPDX-License-Identifier: MIT
// The learning rate of each step, as nn/schedule.h computes it. Lengths are in epochs, as in a recipe.
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

/** The rate of the step that begins after `epochs` epochs. */
export function rateAt(schedule, base, epochs, stepsPerEpoch) {
  const { name = 'constant', done = 0, warmup = 0, stepSize, gamma = 0.1, minimumRate = 0 } = schedule;
  const steps = (length) => Math.round(length * stepsPerEpoch);
  const step = Math.floor((done + epochs) * stepsPerEpoch + EXACT * stepsPerEpoch),
    rise = steps(warmup),
    least = Math.min(minimumRate, base);
  let rate = base;
  if (name === 'step') rate *= gamma ** Math.floor(step / Math.max(1, steps(stepSize)));
  else if (name !== 'constant') {
    const length = Math.max(1, Math.max(1, steps(schedule.epochs)) - rise);
    const t = Math.min(1, Math.max(0, (step - rise) / length));
    rate = least + (base - least) * (name === 'linear' ? 1 - t : (1 + Math.cos(Math.PI * t)) / 2);
  }
  return step < rise ? (rate * (step + 1)) / rise : rate;
}
