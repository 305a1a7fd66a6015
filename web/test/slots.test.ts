// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { Slots } from '../src/console/slots';

test('ids that stay keep their number, and new ids get free ones', () => {
  const slots = new Slots();
  expect(slots.assign(['a', 'b', 'c'])).toEqual([0, 1, 2]);
  expect(slots.assign(['b', 'c', 'd'])).toEqual([1, 2, 0]);
  expect(slots.assign(['x', 'b', 'y', 'd', 'c'])).toEqual([3, 1, 4, 0, 2]);
  expect(slots.assign(['e', 'f'])).toEqual([0, 1]);
  expect(slots.assign([])).toEqual([]);
});
