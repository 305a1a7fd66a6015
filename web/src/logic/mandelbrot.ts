// SPDX-License-Identifier: MIT
// The picture of the Mandelbrot page: its tiles' inputs (docs/samples.md), row by row, and the colors of their results.
import { glow } from './tiles';

/** Points along a side of a tile. */
export const SIDE = 64;
/** The size of the picture in tiles. */
export const ACROSS = 12,
  DOWN = 9;
const LEFT = -2.25,
  TOP = 1.125,
  STEP = 1 / 256,
  ITERATIONS = 255;

export const INPUTS = Array.from({ length: ACROSS * DOWN }, (_, i) => ({
  left: LEFT + STEP * SIDE * (i % ACROSS),
  top: TOP - STEP * SIDE * Math.floor(i / ACROSS),
  step: STEP,
  width: SIDE,
  height: SIDE,
  iterations: ITERATIONS,
}));

/** By number of iterations. Points that never escape are as dark as points that escape at once. */
const COLORS = Array.from({ length: ITERATIONS + 1 }, (_, n) => [
  ...glow(n < ITERATIONS ? Math.log2(1 + n) / 8 : 0),
  255,
]);

export function paint(tile: Uint8Array): ImageData {
  const picture = new ImageData(SIDE, SIDE);
  tile.subarray(0, SIDE * SIDE).forEach((n, i) => picture.data.set(COLORS[n], 4 * i));
  return picture;
}
