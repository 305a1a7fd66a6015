// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { barLengths, givesProbabilities, output } from '../src/logic/prediction';

test('a softmax at the end gives probabilities', () => {
  const types = (...types: string[]) => types.map((type) => ({ type }));
  expect(givesProbabilities(types('relu', 'softmax_cross_entropy'))).toBe(true);
  expect(givesProbabilities(types('relu', 'softmax'))).toBe(true);
  expect(givesProbabilities([])).toBe(true);
  for (const type of ['fully_connected', 'sigmoid', 'mean_squared_error'])
    expect(givesProbabilities(types('softmax', type))).toBe(false);
});

test.each([
  [0, '0'],
  [-10.64, '-10.6'],
  [0.12345, '0.123'],
  [-0.00012, '-1.2e-4'],
  [123456, '1.2e+5'],
  [NaN, '–'],
])('output %d', (value, text) => expect(output(value)).toBe(text));

test('bars of outputs stay between 0 and 1', () => {
  expect(barLengths([-10, 5, 0])).toEqual([0, 0.5, 0]);
  expect(barLengths([2, NaN, 4])).toEqual([0.5, 0, 1]);
  expect(barLengths([0, 0])).toEqual([0, 0]);
});
