// SPDX-License-Identifier: MIT
// Whether a number is prime: the twin of is_prime() in dist/samples/samples.h.

export function calculate(input) {
  const n = Number(String.fromCharCode(...input));
  if (input.length === 0 || !Number.isInteger(n) || n < 0 || n > 2 ** 53) throw new Error('expected a number up to 2^53');
  let prime = n >= 2 && (n === 2 || n % 2 === 1);
  for (let d = 3; prime && d * d <= n; d += 2) prime = n % d !== 0;
  return prime ? 'true' : 'false';
}
