// SPDX-License-Identifier: MIT
// Fits pictures to a network's input shape: crops or pads around the middle, and converts between gray and color.

import { count } from './format';

/** The largest number of values of all fitted pictures, limited by memory. */
const MAX_VALUES = 2 ** 30;

export type Picture = readonly [channels: number, height: number, width: number];

type Pixels = Uint8Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

export const volume = (shape: readonly number[]): number => shape.reduce((product, dim) => product * dim, 1);

export const same = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((dim, i) => dim === b[i]);

/** Returns `input` as a picture's shape. Throws if it is not one. */
export function asPicture(input: readonly number[]): Picture {
  if (input.length === 3 && (input[0] === 1 || input[0] === 3)) return [input[0], input[1], input[2]];
  throw new Error(`[data] expected a network whose input is a picture of 1 or 3 channels, got [${input.join(', ')}]`);
}

/** Fits consecutive pictures of shape `from` to shape `to`. */
export function fit<T extends Pixels>(values: T, from: Picture, to: Picture): T {
  if (same(from, to)) return values;
  const [channels, height, width] = from,
    [toChannels, toHeight, toWidth] = to;
  const n = values.length / volume(from);
  if (n * volume(to) > MAX_VALUES)
    throw new Error(
      `[data] expected pictures of at most ${count(MAX_VALUES)} values together, got ${count(n)} of [${to.join(', ')}]`,
    );
  const result = new (values.constructor as new (length: number) => T)(n * volume(to));
  const top = (toHeight - height) >> 1,
    left = (toWidth - width) >> 1;
  const plane = height * width;
  for (let i = 0; i < n; ++i)
    for (let c = 0; c < toChannels; ++c)
      for (let y = Math.max(0, -top); y < Math.min(height, toHeight - top); ++y)
        for (let x = Math.max(0, -left); x < Math.min(width, toWidth - left); ++x) {
          const at = i * channels * plane + y * width + x;
          const value =
            channels === toChannels
              ? values[at + c * plane]
              : channels === 1
                ? values[at]
                : (values[at] + values[at + plane] + values[at + 2 * plane]) / 3;
          result[((i * toChannels + c) * toHeight + y + top) * toWidth + x + left] = value;
        }
  return result;
}
