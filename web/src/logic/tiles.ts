// SPDX-License-Identifier: MIT
// Planes of numbers as one picture: filters around zero, activations from nothing to much, pictures as they are.

export interface Tiled {
  pixels: Uint8ClampedArray<ArrayBuffer>;
  width: number;
  height: number;
}

/** Of one picture, and along a side of one tile: about as much as a screen shows. */
const PIXELS = 2 ** 18, SIDE = 4096;

type Colour = readonly [red: number, green: number, blue: number];

const NEGATIVE: Colour = [214, 74, 48], ZERO: Colour = [244, 241, 232], POSITIVE: Colour = [20, 110, 96];
const DARK: Colour = [13, 24, 22], MIDDLE: Colour = [46, 148, 126], BRIGHT: Colour = [240, 250, 226];

const mix = (from: Colour, to: Colour, share: number): Colour => [0, 1, 2].map((i) =>
  from[i] + (to[i] - from[i]) * share) as unknown as Colour;

/** -1 to 1. */
export const signed = (value: number): Colour => mix(ZERO, value < 0 ? NEGATIVE : POSITIVE, Math.min(1, Math.abs(value)));

/** 0 to 1. */
export const glow = (value: number): Colour =>
  value < 0.5 ? mix(DARK, MIDDLE, 2 * Math.max(0, value)) : mix(MIDDLE, BRIGHT, Math.min(1, 2 * value - 1));

export const grey = (value: number): Colour => [255 * value, 255 * value, 255 * value];

/** Columns with which `count` tiles are largest in a frame that is `aspect` tiles wide for each that it is high. */
export function columns(count: number, aspect = 1): number {
  const size = (across: number) => Math.min(aspect / across, 1 / Math.ceil(count / across));
  let best = 1;
  for (let across = 2; across <= count; ++across) if (size(across) > size(best) * 1.0001) best = across;
  return best;
}

/** Every how many rows and columns are drawn, so that it is quick and every browser has a canvas as large. */
function stride(count: number, height: number, width: number): number {
  let step = 1;
  while (count * Math.ceil(height / step) * Math.ceil(width / step) > PIXELS || Math.max(height, width) > SIDE * step) ++step;
  return step;
}

/**
 * `tiles` tiles with 1 or 3 channels, one after another in `values`. Three channels are colours, each tile scaled to its
 * own range; one channel is scaled to the largest value of all tiles and coloured. Of large ones rows and columns are left out.
 */
export function tile(values: ArrayLike<number>, tiles: number, [channels, height, width]: readonly number[],
                     colour: (value: number) => Colour, aspect = 1): Tiled {
  const count = Math.min(tiles, PIXELS), step = stride(count, height, width);
  const rows = Math.ceil(height / step), cells = Math.ceil(width / step);
  const across = columns(count, aspect), down = Math.ceil(count / across);
  const gap = cells > 2 ? 1 : 0;
  const full = { width: across * (cells + gap) - gap, height: down * (rows + gap) - gap };
  const pixels = new Uint8ClampedArray(4 * full.width * full.height);
  const value = (t: number, c: number, i: number) =>
    values[((t * channels + c) * height + step * Math.floor(i / cells)) * width + step * (i % cells)];
  let most = 1e-12;
  for (let t = 0; t < count; ++t)
    for (let i = 0; i < rows * cells; ++i) most = Math.max(most, Math.abs(value(t, 0, i)));
  for (let t = 0; t < count; ++t) {
    let low = Infinity, high = -Infinity;
    for (let c = 0; channels === 3 && c < 3; ++c)
      for (let i = 0; i < rows * cells; ++i) low = Math.min(low, value(t, c, i)), high = Math.max(high, value(t, c, i));
    for (let i = 0; i < rows * cells; ++i) {
      const [red, green, blue] = channels === 3
        ? [0, 1, 2].map((c) => 255 * (value(t, c, i) - low) / (high - low || 1))
        : colour(value(t, 0, i) / most);
      const x = (t % across) * (cells + gap) + (i % cells), y = Math.floor(t / across) * (rows + gap) + Math.floor(i / cells);
      pixels.set([red, green, blue, 255], 4 * (y * full.width + x));
    }
  }
  return { pixels, ...full };
}
