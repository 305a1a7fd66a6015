// SPDX-License-Identifier: MIT
// Tests whether a number is prime. The C++ version is is_prime() in dist/samples/samples.h.

export function calculate(input) {
  const n = Number(String.fromCharCode(...input));
  if (input.length === 0 || !Number.isInteger(n) || n < 0 || n > 2 ** 53)
    throw new Error('expected an integer from 0 to 2^53');
  let prime = n >= 2 && (n === 2 || n % 2 === 1);
  for (let d = 3; prime && d * d <= n; d += 2) prime = n % d !== 0;
  return prime ? 'true' : 'false';
}
