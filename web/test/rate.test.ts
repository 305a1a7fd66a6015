// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { Rate } from '../src/logic/rate';

test('returns the rate of a steady count at any reading interval', () => {
  const rate = new Rate(10);
  expect(rate.add(0, 5)).toBe(0);
  expect(rate.add(1, 8)).toBe(3);
  expect(rate.add(7, 26)).toBe(3);
});

test('uses only the last seconds', () => {
  const rate = new Rate(10);
  for (let second = 0; second <= 100; ++second) rate.add(second, 50 * second);
  let last = 0;
  for (let second = 101; second <= 111; ++second) last = rate.add(second, 5000);
  expect(last).toBe(0);
});

test('is not negative when the count restarts', () => {
  const rate = new Rate(10);
  rate.add(0, 100);
  rate.add(1, 200);
  expect(rate.add(2, 3)).toBe(0);
  expect(rate.add(3, 5)).toBe(2);
});
