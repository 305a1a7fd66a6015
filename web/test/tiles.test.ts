// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { columns, glow, grey, signed, tile } from '../src/logic/tiles';

const pixel = (tiled: ReturnType<typeof tile>, x: number, y: number) =>
  [...tiled.pixels.slice(4 * (y * tiled.width + x), 4 * (y * tiled.width + x) + 4)];

test('tiles are as large as the frame lets them be', () => {
  expect(columns(1)).toBe(1);
  expect(columns(64)).toBe(8);
  expect(columns(20, 2.2)).toBe(7);
  expect(columns(20, 0.2)).toBe(2);
});

test('four tiles of 3 x 3 with gaps that are transparent', () => {
  const values = Float32Array.from({ length: 36 }, (_, i) => Math.floor(i / 9) + 1);
  const tiled = tile(values, 4, [1, 3, 3], grey);
  expect([tiled.width, tiled.height]).toEqual([7, 7]);
  expect(pixel(tiled, 0, 0)).toEqual([64, 64, 64, 255]);
  expect(pixel(tiled, 3, 3)).toEqual([0, 0, 0, 0]);
  expect(pixel(tiled, 6, 6)).toEqual([255, 255, 255, 255]);
});

test('three channels are colours over their own range', () => {
  const tiled = tile([0, 1, 0, 0, -1, -1], 1, [3, 1, 2], grey);
  expect(pixel(tiled, 0, 0)).toEqual([128, 128, 0, 255]);
  expect(pixel(tiled, 1, 0)).toEqual([255, 128, 0, 255]);
});

test('colours tell signs and sizes apart', () => {
  expect(signed(0.5)).not.toEqual(signed(-0.5));
  expect(signed(2)).toEqual(signed(1));
  expect(glow(-1)).toEqual(glow(0));
  expect(glow(1)[0]).toBeGreaterThan(glow(0.2)[0]);
});

test('of large tiles rows and columns are left out', () => {
  const values = new Uint8Array(4 * 1000 * 1000).fill(1);
  values[3 * 1000 * 1000 + 8 * 1000 + 4] = 2;  // of the last tile, in a row and a column that are drawn
  const tiled = tile(values, 4, [1, 1000, 1000], grey);
  expect([tiled.width, tiled.height]).toEqual([501, 501]);
  expect(pixel(tiled, 0, 0)).toEqual([128, 128, 128, 255]);
  expect(pixel(tiled, 251 + 1, 251 + 2)).toEqual([255, 255, 255, 255]);
  const colours = tile(new Uint8Array(3 * 2000 * 3000), 1, [3, 2000, 3000], grey);
  expect(colours.pixels.length).toBeLessThanOrEqual(4 * 2 ** 18);
});

test('what is long is not wider than a canvas may be', () => {
  expect(tile(new Float32Array(100_000), 1, [1, 1, 100_000], glow).width).toBe(4000);
  const many = tile(new Float32Array(2 ** 20), 2 ** 20, [1, 1, 1], glow);
  expect(many.width * many.height).toBeLessThan(2 ** 18 + 1000);
});

test('nothing but zeros is a picture too', () => {
  expect(pixel(tile(new Float32Array(4), 4, [1, 1, 1], glow), 0, 0)).toEqual([...glow(0), 255]);
});
