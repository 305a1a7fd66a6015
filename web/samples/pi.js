// SPDX-License-Identifier: MIT
// Estimates pi from random points in a quarter circle. The C++ version is monte_carlo_pi() in dist/samples/samples.h.

function randomBits(seed, i) {
  let x = (Math.imul(i, 0x9e3779b9) + Math.imul(seed, 0x85ebca6b)) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

export function calculate(input) {
  const { seed = 0, points = 100000 } = JSON.parse(String.fromCharCode(...input));
  let inside = 0;
  for (let i = 0; i < points; ++i) {
    const x = randomBits(seed, 2 * i) / 2 ** 32;
    const y = randomBits(seed, 2 * i + 1) / 2 ** 32;
    if (x * x + y * y < 1) ++inside;
  }
  return String(inside);
}
