// SPDX-License-Identifier: MIT
// A tile of the Mandelbrot set. The C++ version is mandelbrot() in dist/samples/samples.h.

export function calculate(input) {
  const {
    left = -2,
    top = 1.25,
    step = 0.01,
    width = 64,
    height = 64,
    iterations = 255,
  } = JSON.parse(String.fromCharCode(...input));
  const tile = new Uint8Array(width * height);
  for (let row = 0, at = 0; row < height; ++row) {
    for (let column = 0; column < width; ++column, ++at) {
      const a = left + column * step;
      const b = top - row * step;
      let x = 0;
      let y = 0;
      let n = 0;
      while (n < iterations && x * x + y * y <= 4) {
        const next = x * x - y * y + a;
        y = 2 * x * y + b;
        x = next;
        ++n;
      }
      tile[at] = n;
    }
  }
  return tile;
}
