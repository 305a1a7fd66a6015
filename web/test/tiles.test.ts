// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { columns, glow, gray, signed, tile } from '../src/logic/tiles';

const pixel = (tiled: ReturnType<typeof tile>, x: number, y: number) => [
  ...tiled.pixels.slice(4 * (y * tiled.width + x), 4 * (y * tiled.width + x) + 4),
];

test('makes tiles as large as the frame allows', () => {
  expect(columns(1)).toBe(1);
  expect(columns(64)).toBe(8);
  expect(columns(20, 2.2)).toBe(7);
  expect(columns(20, 0.2)).toBe(2);
});

test('draws four tiles of 3 x 3 with transparent gaps', () => {
  const values = Float32Array.from({ length: 36 }, (_, i) => Math.floor(i / 9) + 1);
  const tiled = tile(values, 4, [1, 3, 3], gray);
  expect([tiled.width, tiled.height]).toEqual([7, 7]);
  expect(pixel(tiled, 0, 0)).toEqual([64, 64, 64, 255]);
  expect(pixel(tiled, 3, 3)).toEqual([0, 0, 0, 0]);
  expect(pixel(tiled, 6, 6)).toEqual([255, 255, 255, 255]);
});

test('scales three channels to their own range', () => {
  const tiled = tile([0, 1, 0, 0, -1, -1], 1, [3, 1, 2], gray);
  expect(pixel(tiled, 0, 0)).toEqual([128, 128, 0, 255]);
  expect(pixel(tiled, 1, 0)).toEqual([255, 128, 0, 255]);
});

test('has different colors for signs and sizes', () => {
  expect(signed(0.5)).not.toEqual(signed(-0.5));
  expect(signed(2)).toEqual(signed(1));
  expect(glow(-1)).toEqual(glow(0));
  expect(glow(1)[0]).toBeGreaterThan(glow(0.2)[0]);
});

test('subsamples large tiles', () => {
  const values = new Uint8Array(4 * 1000 * 1000).fill(1);
  values[3 * 1000 * 1000 + 8 * 1000 + 4] = 2; // in the last tile, in a row and a column that are drawn
  const tiled = tile(values, 4, [1, 1000, 1000], gray);
  expect([tiled.width, tiled.height]).toEqual([501, 501]);
  expect(pixel(tiled, 0, 0)).toEqual([128, 128, 128, 255]);
  expect(pixel(tiled, 251 + 1, 251 + 2)).toEqual([255, 255, 255, 255]);
  const colors = tile(new Uint8Array(3 * 2000 * 3000), 1, [3, 2000, 3000], gray);
  expect(colors.pixels.length).toBeLessThanOrEqual(4 * 2 ** 18);
});

test("limits the width to a canvas's", () => {
  expect(tile(new Float32Array(100_000), 1, [1, 1, 100_000], glow).width).toBe(4000);
  const many = tile(new Float32Array(2 ** 20), 2 ** 20, [1, 1, 1], glow);
  expect(many.width * many.height).toBeLessThan(2 ** 18 + 1000);
});

test('draws a picture of zeros', () => {
  expect(pixel(tile(new Float32Array(4), 4, [1, 1, 1], glow), 0, 0)).toEqual([...glow(0), 255]);
});
