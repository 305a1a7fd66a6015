// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { isRepeatedClick } from '../src/logic/click';

test('ignores double clicks and held keys, but not a later click', () => {
  expect(isRepeatedClick(2, 150)).toBe(true);
  expect(isRepeatedClick(2, 700)).toBe(true);
  expect(isRepeatedClick(0, 40)).toBe(true);
  expect(isRepeatedClick(1, 800)).toBe(false);
  expect(isRepeatedClick(0, 800)).toBe(false);
});
