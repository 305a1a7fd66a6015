// SPDX-License-Identifier: MIT
// Converts a drawing to a digit like the data's. The ink is scaled to 20 pixels, and its center of mass is in the
// middle of 28.

export const SIDE = 28;
const INK = 20;

/** `ink` is side x side values in 0..255. Returns SIDE x SIDE values in 0..1, or null if there is no ink. */
export function center(ink: ArrayLike<number>, side: number): Float32Array<ArrayBuffer> | null {
  let top = side,
    bottom = -1,
    left = side,
    right = -1;
  for (let y = 0; y < side; ++y)
    for (let x = 0; x < side; ++x)
      if (ink[y * side + x] > 32) {
        ((top = Math.min(top, y)), (bottom = Math.max(bottom, y)));
        ((left = Math.min(left, x)), (right = Math.max(right, x)));
      }
  if (bottom < 0) return null;
  const step = Math.max(bottom - top + 1, right - left + 1, side / 14) / INK;

  // Averages the ink under a pixel of the result. (x, y) is the pixel's corner.
  const mean = (y: number, x: number): number => {
    const y0 = Math.max(0, Math.floor(y)),
      y1 = Math.min(side, Math.ceil(y + step));
    const x0 = Math.max(0, Math.floor(x)),
      x1 = Math.min(side, Math.ceil(x + step));
    let sum = 0,
      weight = 0;
    for (let row = y0; row < y1; ++row)
      for (let column = x0; column < x1; ++column) {
        const part =
          (Math.min(row + 1, y + step) - Math.max(row, y)) * (Math.min(column + 1, x + step) - Math.max(column, x));
        sum += part * ink[row * side + column];
        weight += part;
      }
    return weight > 0 ? sum / weight / 255 : 0;
  };

  let mass = 0,
    massX = 0,
    massY = 0;
  for (let y = 0; y < side; ++y)
    for (let x = 0; x < side; ++x) {
      mass += ink[y * side + x];
      massX += ink[y * side + x] * (x + 0.5);
      massY += ink[y * side + x] * (y + 0.5);
    }
  const originX = massX / mass - (SIDE / 2) * step,
    originY = massY / mass - (SIDE / 2) * step;
  return Float32Array.from({ length: SIDE * SIDE }, (_, i) =>
    mean(originY + Math.floor(i / SIDE) * step, originX + (i % SIDE) * step),
  );
}
