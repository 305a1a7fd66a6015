// SPDX-License-Identifier: MIT
import { afterEach, expect, test, vi } from 'vitest';
import { backoffDelay } from '../src/logic/backoff';

afterEach(() => void vi.restoreAllMocks());

test('delays are random, and grow with failures', () => {
  const chance = vi.spyOn(Math, 'random');
  for (const [failures, about] of [
    [0, 2000],
    [1, 4000],
    [2, 8000],
    [3, 10000],
    [100, 10000],
  ]) {
    chance.mockReturnValue(0);
    expect(backoffDelay(2000, failures)).toBe(0.75 * about);
    chance.mockReturnValue(1);
    expect(backoffDelay(2000, failures)).toBe(1.25 * about);
  }
});
