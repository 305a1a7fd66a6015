// SPDX-License-Identifier: MIT
// Planes of numbers as one picture: filters around zero, activations from nothing to much, pictures as they are.

export interface Tiled {
  pixels: Uint8ClampedArray<ArrayBuffer>;
  width: number;
  height: number;
}

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

/**
 * `count` tiles with 1 or 3 channels, one after another in `values`. Three channels are colours, each tile scaled to its
 * own range; one channel is scaled to the largest value of all tiles and coloured.
 */
export function tile(values: ArrayLike<number>, count: number, [channels, height, width]: readonly number[],
                     colour: (value: number) => Colour, aspect = 1): Tiled {
  const across = columns(count, aspect), down = Math.ceil(count / across);
  const gap = width > 2 ? 1 : 0;
  const full = { width: across * (width + gap) - gap, height: down * (height + gap) - gap };
  const pixels = new Uint8ClampedArray(4 * full.width * full.height);
  const plane = height * width;
  let most = 1e-12;
  for (let i = 0; i < count * channels * plane; ++i) most = Math.max(most, Math.abs(values[i]));
  for (let t = 0; t < count; ++t) {
    const first = t * channels * plane;
    let low = Infinity, high = -Infinity;
    for (let i = first; channels === 3 && i < first + 3 * plane; ++i)
      low = Math.min(low, values[i]), high = Math.max(high, values[i]);
    for (let i = 0; i < plane; ++i) {
      const [red, green, blue] = channels === 3
        ? [0, 1, 2].map((c) => 255 * (values[first + c * plane + i] - low) / (high - low || 1))
        : colour(values[first + i] / most);
      const x = (t % across) * (width + gap) + (i % width), y = Math.floor(t / across) * (height + gap) + Math.floor(i / width);
      pixels.set([red, green, blue, 255], 4 * (y * full.width + x));
    }
  }
  return { pixels, ...full };
}
