// SPDX-License-Identifier: MIT
// The package's learning rates, against the values of nn::Schedule::at() for 100 minibatches an epoch.
import { expect, test } from 'vitest';
// @ts-expect-error The package has no types for this file.
import { augment, parseAugmentation } from '../node_modules/kaiseki/src/augment.js';
// @ts-expect-error The package has no types for this file.
import { checkSchedule, isOver, rateAt } from '../node_modules/kaiseki/src/schedule.js';

test.each([
  [{ name: 'constant' }, [0.1, 0.1, 0.1, 0.1]],
  [{ name: 'step', stepSize: 1 }, [0.1, 0.1, 0.01, 0.001]],
  [{ name: 'step', stepSize: 0.5, gamma: 0.5 }, [0.1, 0.05, 0.025, 0.003125]],
  [{ name: 'linear' }, [0.1, 0.083333333333, 0.066666666667, 0.000333333333]],
  [{ name: 'cosine' }, [0.1, 0.093301270189, 0.075, 2.741530069e-6]],
  [{ name: 'cosine', minimumRate: 0.02 }, [0.1, 0.094641016151, 0.08, 0.020002193224]],
  [{ name: 'cosine', warmup: 0.5 }, [0.002, 0.1, 0.09045084971874738, 3.947788485783e-6]],
  [{ name: 'linear', warmup: 1 }, [0.001, 0.051, 0.1, 0.0005]],
])('%j gives the rates of the command', (schedule, expected) => {
  const rates = [0, 0.5, 1, 2.99].map((at) => rateAt({ epochs: 3, ...schedule }, 0.1, at, 1, 100));
  rates.forEach((rate, i) => expect(rate).toBeCloseTo(expected[i], 9));
});

test('counts the samples of a training that continues another', () => {
  const starts = Array.from({ length: 938 }, (_, i) => (64 * i) / 60_000);
  const linear = { name: 'linear', epochs: 1 };
  starts.forEach((at, i) => expect(rateAt(linear, 60_000, at, 64, 60_000)).toBeCloseTo(60_000 - 64 * i, 6));
  starts.forEach((at) => expect(rateAt({ ...linear, epochs: 2, done: at }, 2, 1 - at, 64, 60_000)).toBeCloseTo(1, 9));
  // As in C++, a third of 1,000 samples is 333.
  const thirds = { name: 'step', epochs: 1, stepSize: 1 / 3 };
  expect([0.332, 0.333].map((at) => rateAt(thirds, 1, at, 1, 1000))).toEqual([1, 0.1]);
  expect([0.9, 1 - 1e-12].map((at) => isOver({ epochs: 3, done: 2 }, at))).toEqual([false, true]);
});

test.each([
  [{ epochs: 0 }, 'more than 0 epochs, got 0'],
  [{ epochs: 3, name: 'cosin' }, 'constant, step, cosine, linear, got cosin'],
  [{ epochs: 3, name: 'step' }, 'a stepSize above 0'],
  [{ epochs: 3, warmup: -1 }, 'warmup of 0 or more'],
])('rejects %j', (schedule, message) => expect(() => checkSchedule(schedule)).toThrow(message));

test('parses augmentations', () => {
  expect(['none', 'flip', 'crop', 'crop:2,flip'].map((text) => parseAugmentation(text))).toEqual([
    { flip: false, padding: 0 },
    { flip: true, padding: 0 },
    { flip: false, padding: 4 },
    { flip: true, padding: 2 },
  ]);
  for (const text of ['', 'flap', 'crop:', 'crop:-1', 'crop:9999999'])
    expect(() => parseAugmentation(text)).toThrow('[train] expected none, or flip, crop');
});

test('mirrors and moves pictures as a whole, and fills with 0', () => {
  const picture = Float32Array.from([1, 2, 3, 4, 5, 6, 7, 8]); // two channels of 2 x 2
  const changed = (how: object, draws: number[]) => [...augment(picture, [1, 2, 2, 2], how, () => draws.shift())];
  expect(changed({ flip: true, padding: 0 }, [0, 0, 0.4])).toEqual([2, 1, 4, 3, 6, 5, 8, 7]);
  expect(changed({ flip: true, padding: 0 }, [0, 0, 0.6])).toEqual([...picture]);
  expect(changed({ flip: false, padding: 1 }, [0.99, 0.5])).toEqual([3, 4, 0, 0, 7, 8, 0, 0]);
  expect(changed({ flip: false, padding: 1 }, [0.5, 0])).toEqual([0, 1, 0, 3, 0, 5, 0, 7]);
});
