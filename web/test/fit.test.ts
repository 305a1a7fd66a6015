// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { asPicture, fit } from '../src/logic/fit';

test('returns the same array for the same shape', () => {
  const values = new Uint8Array(8);
  expect(fit(values, [1, 2, 2], [1, 2, 2])).toBe(values);
});

test('pads two gray pictures and makes three channels', () => {
  const result = fit(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), [1, 2, 2], [3, 4, 4]);
  const plane = (a: number, b: number, c: number, d: number) => [0, 0, 0, 0, 0, a, b, 0, 0, c, d, 0, 0, 0, 0, 0];
  const first = plane(1, 2, 3, 4),
    second = plane(5, 6, 7, 8);
  expect([...result]).toEqual([...first, ...first, ...first, ...second, ...second, ...second]);
});

test('converts color to gray and crops to the middle', () => {
  const values = Float32Array.from({ length: 48 }, (_, i) => i);
  expect([...fit(values, [3, 4, 4], [1, 2, 2])]).toEqual([21, 22, 25, 26]);
});

test('rejects more values than fit into memory', () => {
  expect(() => fit(new Uint8Array(3000), [1, 1, 1], [1, 4096, 4096])).toThrow(
    '[data] expected pictures of at most 1,073,741,824 values together, got 3,000 of [1, 4096, 4096]',
  );
});

test('rejects an input that is not a picture', () => {
  expect(asPicture([3, 8, 9])).toEqual([3, 8, 9]);
  expect(() => asPicture([7])).toThrow(
    '[data] expected a network whose input is a picture of 1 or 3 channels, got [7]',
  );
  expect(() => asPicture([2, 4, 4])).toThrow('got [2, 4, 4]');
});
