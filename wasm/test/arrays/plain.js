// SPDX-License-Identifier: MIT
// Plain loops in double, as references for the cases of kaiseki/arrays.
import assert from 'node:assert/strict';

/** Numbers in [-1, 1) that depend on the seed. */
export function noise(count, seed = 1) {
  return Array.from({ length: count }, (_, i) => {
    const h = Math.imul((i + 1) ^ Math.imul(seed, 0x9e3779b9), 2246822519);
    return ((Math.imul(h ^ (h >>> 15), 2654435761) >>> 8) % 20000) / 10000 - 1;
  });
}

export const times = (a, b) =>
  a.map((row) => b[0].map((_, j) => row.reduce((sum, value, k) => sum + value * b[k][j], 0)));
export const transposed = (a) => a[0].map((_, j) => a.map((row) => row[j]));
export const matrix = (m, n, of) => Array.from({ length: m }, (_, i) => Array.from({ length: n }, (__, j) => of(i, j)));
export const identity = (n) => matrix(n, n, (i, j) => Number(i === j));
export const diagonal = (values) => matrix(values.length, values.length, (i, j) => (i === j ? values[i] : 0));
export function random(m, n, seed) {
  const values = noise(m * n, seed);
  return matrix(m, n, (i, j) => values[i * n + j]);
}

/** The rows of a matrix, or the elements of a vector. */
export function rows(tensor) {
  const values = Array.from(tensor.toTypedArray());
  if (tensor.shape.length < 2) return values;
  const [m, n] = tensor.shape;
  return matrix(m, n, (i, j) => values[i * n + j]);
}

/** Fails unless all numbers of nested lists or tensors are near, relative to the largest one. */
export function near(got, wanted, tolerance = 1e-5) {
  const flat = (value) => (value?.toTypedArray ? Array.from(value.toTypedArray()) : [value].flat(Infinity));
  const [a, b] = [flat(got), flat(wanted)];
  assert.equal(a.length, b.length);
  const largest = Math.max(1, ...b.filter(Number.isFinite).map(Math.abs));
  a.forEach((value, i) => {
    if (Number.isFinite(b[i]))
      assert.ok(Math.abs(value - b[i]) <= tolerance * largest, `${value}, not ${b[i]}, at ${i}`);
    else assert.ok(Object.is(value, b[i]), `${value}, not ${b[i]}, at ${i}`);
  });
}

/** Fails unless a tensor has this type, shape and elements. */
export function same(tensor, dtype, shape, values) {
  assert.deepEqual([tensor.dtype, tensor.shape, Array.from(tensor.toTypedArray())], [dtype, shape, values]);
}
