// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { Series, smooth } from '../src/logic/series';

test('keeps a series short, with its mean and its last x', () => {
  const series = new Series(100);
  for (let i = 1; i <= 12800; ++i) series.push(i, i);
  expect(series.x.length).toBeLessThanOrEqual(100);
  expect(series.x.length).toBeGreaterThanOrEqual(50);
  expect(series.x.at(-1)).toBe(12800);
  expect(series.y.reduce((sum, y) => sum + y, 0) / series.y.length).toBeCloseTo(6400.5, 6);
  expect(series.x).toEqual([...series.x].sort((a, b) => a - b));
});

test('keeps a constant from the first value on', () => {
  expect(smooth([2, 2, 2])).toEqual([2, 2, 2]);
});

test('follows a jump from below', () => {
  const values = smooth([...Array(50).fill(0), ...Array(50).fill(1)]);
  expect(values[49]).toBe(0);
  expect(values[50]).toBeGreaterThan(0);
  expect(values[99]).toBeGreaterThan(0.95);
  expect(values[99]).toBeLessThan(1);
});
