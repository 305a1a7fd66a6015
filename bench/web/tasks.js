// SPDX-License-Identifier: MIT
// The matrix tasks T1 to T4 of the MILJS paper, and two networks. As in the paper, the time includes upload and download,
// but not the generation of the inputs.

/** Rows and columns of the inputs. The values are uniform in -1..1. */
export const TASKS = {
  T1: { what: '1000x1000 + 1000x1000', inputs: { a: [1000, 1000], b: [1000, 1000] } },
  T2: { what: '1000x100 * 100x10', inputs: { a: [1000, 100], b: [100, 10] } },
  T3: { what: '1000x1000 * 1000x1000', inputs: { a: [1000, 1000], b: [1000, 1000] } },
  T4: {
    what: '200x500 * 500x200 + 200x1, and the transpose of 200x500 * 200x500',
    inputs: { a: [200, 500], b: [500, 200], bias: [200, 1], c: [200, 500] },
  },
};

/** Batches of 64. All convolutions are 5 x 5, all poolings are maximum 2 x 2. */
export const BATCH = 64;
export const NETWORKS = {
  lenet: {
    input: [1, 28, 28],
    layers: [['conv', 20, 0], ['pool'], ['conv', 50, 0], ['pool'], ['fc', 500], ['relu'], ['fc', 10]],
  },
  cifar: {
    input: [3, 32, 32],
    layers: [
      ['conv', 16, 2],
      ['relu'],
      ['pool'],
      ['conv', 20, 2],
      ['relu'],
      ['pool'],
      ['conv', 20, 2],
      ['relu'],
      ['pool'],
      ['fc', 10],
    ],
  },
};
export const LEARNING_RATE = 0.01,
  MOMENTUM = 0.9;

/** Pseudo-random numbers in -1..1, the same on every machine. */
export function numbers(count, seed) {
  const values = new Float32Array(count);
  for (let i = 0; i < count; ++i) {
    seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
    values[i] = seed / 2 ** 31;
  }
  return values;
}

/** Returns {a: {shape, values}, ...}. */
export function inputsOf(task) {
  let seed = 1;
  return Object.fromEntries(
    Object.entries(TASKS[task].inputs).map(([name, shape]) => [
      name,
      { shape, values: numbers(shape[0] * shape[1], seed++) },
    ]),
  );
}

/** A batch of noise, channels first, with labels. Training memorizes it. */
export function batchOf(network) {
  const shape = [BATCH, ...NETWORKS[network].input];
  return {
    shape,
    images: numbers(
      shape.reduce((product, length) => product * length),
      9,
    ),
    labels: Int32Array.from({ length: BATCH }, (_, i) => i % 10),
  };
}

/** A weight's standard deviation, from the number of inputs. */
export const spread = (inputs) => Math.sqrt(2 / inputs);

function product(a, b, [m, k], n, left = (i, p) => a[i * k + p]) {
  const y = new Float64Array(m * n);
  for (let i = 0; i < m; ++i)
    for (let p = 0; p < k; ++p) for (let j = 0; j < n; ++j) y[i * n + j] += left(i, p) * b[p * n + j];
  return y;
}

/** Computes the results in double precision. */
export function expected(task, { a, b, bias, c }) {
  if (task === 'T1') return [Float64Array.from(a.values, (value, i) => value + b.values[i])];
  const [m, k] = a.shape,
    n = b.shape[1],
    y = product(a.values, b.values, [m, k], n);
  if (task !== 'T4') return [y];
  y.forEach((value, i) => {
    y[i] = value + bias.values[Math.floor(i / n)];
  });
  return [y, product(null, c.values, [k, m], k, (i, p) => a.values[p * k + i])];
}

/** Throws if a result differs by more than single-precision rounding. */
export function compare(name, found, wanted) {
  if (found.length !== wanted.length)
    throw new Error(`[${name}] expected ${wanted.length} results, got ${found.length}`);
  wanted.forEach((values, at) => {
    if (found[at].length !== values.length)
      throw new Error(`[${name}] expected ${values.length} values in result ${at}, got ${found[at].length}`);
    for (let i = 0; i < values.length; ++i)
      if (!(Math.abs(found[at][i] - values[i]) < 1e-3))
        throw new Error(`[${name}] expected ${values[i]} at ${i} of result ${at}, got ${found[at][i]}`);
  });
}
