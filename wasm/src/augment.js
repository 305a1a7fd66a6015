// SPDX-License-Identifier: MIT
// Random changes of training pictures, as nn/data/augmentation.h names them: "flip", "crop" and "crop:PADDING".
import { expect } from './error.js';

/** The padding of "crop". */
const PADDING = 4;

/** Parses the text, such as "flip,crop:4". */
export function parseAugmentation(text = 'none') {
  const how = { flip: false, padding: 0 };
  for (const part of text === 'none' ? [] : text.split(',')) {
    const [, padding] = /^crop(?::(\d+))?$/.exec(part) ?? [];
    expect(part === 'flip' || /^crop(:\d{1,5})?$/.test(part), 'train', 'none, or flip, crop or crop:PADDING', text);
    if (part === 'flip') how.flip = true;
    else how.padding = Number(padding ?? PADDING);
  }
  return how;
}

/**
 * Moves each picture [c, h, w] of a batch by at most `padding` pixels, and mirrors every second one on average.
 * `random` returns numbers in [0, 1). Pixels from outside a picture are 0.
 */
export function augment(values, [count, channels, height, width], { flip, padding }, random) {
  const result = new Float32Array(values.length);
  const shift = () => Math.floor(random() * (2 * padding + 1)) - padding;
  for (let i = 0; i < count; ++i) {
    const down = shift(),
      right = shift(),
      mirrored = flip && random() < 0.5;
    for (let row = i * channels * height; row < (i + 1) * channels * height; ++row) {
      const y = (row % height) + down;
      if (y < 0 || y >= height) continue;
      const from = (row + down) * width;
      for (let at = 0; at < width; ++at) {
        const x = (mirrored ? width - 1 - at : at) + right;
        if (x >= 0 && x < width) result[row * width + at] = values[from + x];
      }
    }
  }
  return result;
}
