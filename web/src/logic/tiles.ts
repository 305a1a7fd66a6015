// SPDX-License-Identifier: MIT
// Draws planes of numbers as one picture: filters around zero, activations from low to high, pictures unchanged.

export interface Tiled {
  pixels: Uint8ClampedArray<ArrayBuffer>;
  width: number;
  height: number;
}

/** The most pixels of one picture, and along a side of a tile: about one screen. */
const PIXELS = 2 ** 18,
  SIDE = 4096;

type Color = readonly [red: number, green: number, blue: number];

const NEGATIVE: Color = [214, 74, 48],
  ZERO: Color = [244, 241, 232],
  POSITIVE: Color = [20, 110, 96];
const DARK: Color = [13, 24, 22],
  MIDDLE: Color = [46, 148, 126],
  BRIGHT: Color = [240, 250, 226];

const mix = (from: Color, to: Color, share: number): Color =>
  [0, 1, 2].map((i) => from[i] + (to[i] - from[i]) * share) as unknown as Color;

/** From -1 to 1. */
export const signed = (value: number): Color =>
  mix(ZERO, value < 0 ? NEGATIVE : POSITIVE, Math.min(1, Math.abs(value)));

/** From 0 to 1. */
export const glow = (value: number): Color =>
  value < 0.5 ? mix(DARK, MIDDLE, 2 * Math.max(0, value)) : mix(MIDDLE, BRIGHT, Math.min(1, 2 * value - 1));

export const gray = (value: number): Color => [255 * value, 255 * value, 255 * value];

/**
 * Returns the number of columns with which `count` tiles are largest in a frame. The frame is `aspect` times as wide as
 * high.
 */
export function columns(count: number, aspect = 1): number {
  const size = (across: number) => Math.min(aspect / across, 1 / Math.ceil(count / across));
  let best = 1;
  for (let across = 2; across <= count; ++across) if (size(across) > size(best) * 1.0001) best = across;
  return best;
}

/** Returns the step between drawn rows and columns, which limits the time and the size of the canvas. */
function stride(count: number, height: number, width: number): number {
  let step = 1;
  while (count * Math.ceil(height / step) * Math.ceil(width / step) > PIXELS || Math.max(height, width) > SIDE * step)
    ++step;
  return step;
}

/**
 * Draws `tiles` consecutive tiles of 1 or 3 channels. Three channels are colors, and each tile is scaled to its own
 * range. One channel is scaled to the largest value of all tiles and colored. Large tiles are subsampled.
 */
export function tile(
  values: ArrayLike<number>,
  tiles: number,
  [channels, height, width]: readonly number[],
  color: (value: number) => Color,
  aspect = 1,
): Tiled {
  const count = Math.min(tiles, PIXELS),
    step = stride(count, height, width);
  const rows = Math.ceil(height / step),
    cells = Math.ceil(width / step);
  const across = columns(count, aspect),
    down = Math.ceil(count / across);
  const gap = cells > 2 ? 1 : 0;
  const full = { width: across * (cells + gap) - gap, height: down * (rows + gap) - gap };
  const pixels = new Uint8ClampedArray(4 * full.width * full.height);
  const value = (t: number, c: number, i: number) =>
    values[((t * channels + c) * height + step * Math.floor(i / cells)) * width + step * (i % cells)];
  let largest = 1e-12;
  for (let t = 0; t < count; ++t)
    for (let i = 0; i < rows * cells; ++i) largest = Math.max(largest, Math.abs(value(t, 0, i)));
  for (let t = 0; t < count; ++t) {
    let low = Infinity,
      high = -Infinity;
    for (let c = 0; channels === 3 && c < 3; ++c)
      for (let i = 0; i < rows * cells; ++i)
        ((low = Math.min(low, value(t, c, i))), (high = Math.max(high, value(t, c, i))));
    for (let i = 0; i < rows * cells; ++i) {
      const [red, green, blue] =
        channels === 3
          ? [0, 1, 2].map((c) => (255 * (value(t, c, i) - low)) / (high - low || 1))
          : color(value(t, 0, i) / largest);
      const x = (t % across) * (cells + gap) + (i % cells),
        y = Math.floor(t / across) * (rows + gap) + Math.floor(i / cells);
      pixels.set([red, green, blue, 255], 4 * (y * full.width + x));
    }
  }
  return { pixels, ...full };
}
