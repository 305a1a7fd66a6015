// SPDX-License-Identifier: MIT
import { afterEach, expect, test, vi } from 'vitest';
import { again } from '../src/logic/again';

afterEach(() => void vi.restoreAllMocks());

test('many that ask do not ask at once, and less often while there is no answer', () => {
  const chance = vi.spyOn(Math, 'random');
  for (const [failures, about] of [[0, 2000], [1, 4000], [2, 8000], [3, 10000], [100, 10000]]) {
    chance.mockReturnValue(0);
    expect(again(2000, failures)).toBe(0.75 * about);
    chance.mockReturnValue(1);
    expect(again(2000, failures)).toBe(1.25 * about);
  }
});
