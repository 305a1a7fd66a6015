// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { isAccident } from '../src/logic/press';

test('a double click, quick or slow, and a key held down are accidents; a second look is not', () => {
  expect(isAccident(2, 150)).toBe(true);
  expect(isAccident(2, 700)).toBe(true);
  expect(isAccident(0, 40)).toBe(true);
  expect(isAccident(1, 800)).toBe(false);
  expect(isAccident(0, 800)).toBe(false);
});
