// SPDX-License-Identifier: MIT
// NumPy's results of tests/reference/array_cases.txt, as tests/matrix/ops/numpy_test.cc reads them.
import { readFileSync } from 'node:fs';

const numbers = (text) => (text ? text.split(',').map(Number) : []);
const TYPES = { f32: Float32Array, i32: Int32Array, u8: Uint8Array, bool: Uint8Array };

/** The formula of make() in make_array_cases.py, for element i of input number `place`. */
function element(dtype, kind, place, i) {
  let h = (Math.imul(i, 2654435761) + Math.imul(place + 1, 0x9e3779b9)) >>> 0;
  h = Math.imul(h ^ (h >>> 15), 2246822519) >>> 0;
  h = (h ^ (h >>> 13)) >>> 0;
  const limit = Number(kind.slice(1));
  if (dtype === 'bool') return (h >>> 3) % 2;
  if (kind[0] === 'k') return (h % (2 * limit)) - limit;
  if (kind[0] === 'c') return h % limit;
  if (kind === 's') return dtype === 'u8' ? h % 4 : (h % 7) - 3;
  if (kind === 'u') return ((h % 2001) - 1000) / 1000;
  if (dtype === 'u8') return h % 256;
  if (dtype === 'f32')
    return kind === 'x' && h % 5 === 0 ? [NaN, Infinity, -Infinity, -0, 0][(h >>> 8) % 5] : ((h % 2001) - 1000) / 8;
  if (kind !== 'x') return (h % 2001) - 1000;
  return h % 3 ? h - 2 ** 31 : [-(2 ** 31), 2 ** 31 - 1, -1, 0][(h >>> 8) % 4];
}

export function makeInput(arrays, text, place) {
  const [dtype, dims, kind] = text.split(':'),
    shape = numbers(dims);
  const count = shape.reduce((product, dim) => product * dim, 1);
  const values = TYPES[dtype].from({ length: count }, (_, i) => element(dtype, kind, place, i));
  return arrays.tensor(values, shape, dtype);
}

/** The hash of the script: FNV-1a of 32-bit words. All NaNs are one, and -0 is 0. */
function hashOf(tensor) {
  const values = tensor.toTypedArray();
  const words = tensor.dtype === 'f32' ? new Uint32Array(values.map((value) => value + 0).buffer) : values;
  let hash = 14695981039346656037n;
  words.forEach((word, i) => {
    const bits = tensor.dtype === 'f32' && Number.isNaN(values[i]) ? 0x7fc00000 : word >>> 0;
    hash = BigInt.asUintN(64, (hash ^ BigInt(bits)) * 1099511628211n);
  });
  return (hash >> 32n).toString(16).padStart(8, '0');
}

/** Whether a tensor has the expected type, shape, and hash or values. Otherwise returns a text of what it has. */
function problem(tensor, expected) {
  const head = `${tensor.dtype}:${tensor.shape.join(',')}`;
  if (expected.startsWith(`${head}:`)) return expected === `${head}:${hashOf(tensor)}` ? '' : 'another hash';
  if (!expected.startsWith(`${head}~`)) return head;
  const values = tensor.toTypedArray(),
    tail = expected.slice(head.length + 1);
  const wanted = tail.split(',').map((word) => Number(word.replace('inf', 'Infinity')));
  const largest = Math.max(0, ...wanted.filter(Number.isFinite).map(Math.abs));
  // Sums of up to 60 products in f32, and of larger ones that partly cancel, as in numpy_test.cc.
  const near = (value, want) =>
    Number.isFinite(want) ? Math.abs(value - want) <= 1e-5 * Math.abs(want) + 2e-6 * largest : Object.is(value, want);
  if (!values.length && !tail) return '';
  return values.length === wanted.length && wanted.every((want, i) => near(values[i], want)) ? '' : `${values}`;
}

const reduction = (name) => (c, x) => x[name](numbers(c.a), c.k === '1');
const along = (name) => (c, x) => x[name](Number(c.axis));
const sorted = (name) => (c, x) => x[name](Number(c.axis), c.d === '1');
const changed =
  (name) =>
  (c, x, ...rest) =>
    x[name](...rest, ...('axis' in c ? [Number(c.axis)] : []));
const same = (name) => (c, x) => x[name]();
const diagonal = (name) => (c, x) => x[name](Number(c.d));
const each = (names, make) => Object.fromEntries(names.split(' ').map((name) => [name, make(name)]));

/** How to compute a case, by the name in the file. */
const COMPUTE = {
  ...each('sum prod max min any all mean median logsumexp', reduction),
  ...each('argmax argmin cumsum cumprod cummax cummin expand_dims', along),
  ...each('sort argsort', sorted),
  ...each('take gather put add_at scatter scatter_add masked_put masked_select', changed),
  ...each('nonzero squeeze', same),
  ...each('diag triu tril', diagonal),
  bincount: (c, x) => x.bincount({ least: Number(c.d ?? 0) }),
  slice: (c, x) => x.slice(c.s.replaceAll(';', ', ').replaceAll('n', 'None')),
  var: (c, x) => x.var(numbers(c.a), Number(c.d), c.k === '1'),
  stddev: (c, x) => x.stddev({ axes: numbers(c.a), keep_dims: c.k === '1' }),
  quantile: (c, x) => x.quantile(Number(c.q), numbers(c.a), c.k === '1'),
  vector_norm: (c, x) => x.vector_norm(Number(c.p.replace('inf', 'Infinity')), numbers(c.a), c.k === '1'),
  argmax_all: (c, x) => x.argmax(),
  argmin_all: (c, x) => x.argmin(),
  topk: (c, x) => x.topk(Number(c.d), Number(c.axis)).indices,
  topk_smallest: (c, x) => x.topk(Number(c.d), Number(c.axis), false).indices,
  topk_values: (c, x) => x.topk(Number(c.d), { axis: Number(c.axis), largest: c.t === 'largest' }).values,
  searchsorted: (c, x, values) => x.sort().searchsorted(values, c.d === '1'),
  unique: (c, x) => Object.values(x.unique())[c.d],
  histogram: (c, x) => x.histogram(Number(c.d), -3, 3).counts,
  stack: (c, ...parts) => parts[0].kaiseki.stack(parts, Number(c.axis)),
  flip: (c, x) => x.flip(numbers(c.a)),
  roll: (c, x) => x.roll(Number(c.d), Number(c.axis)),
  repeat: (c, x) => x.repeat(Number(c.d), Number(c.axis)),
  repeat_each: (c, x, repeats) => x.repeat(repeats, Number(c.axis)),
  split: (c, x) => x.split([Number(c.d)], Number(c.axis))[1],
  moveaxis: (c, x) => x.moveaxis(Number(c.axis), Number(c.d)),
  tile: (c, x) => x.tile(numbers(c.a)),
  one_hot: (c, x) => x.one_hot(Number(c.d), c.t),
  convolve: (c, a, b) => a.convolve(b, ['full', 'same', 'valid'][c.d]),
  correlate: (c, a, b) => a.correlate(b, { mode: ['full', 'same', 'valid'][c.d] }),
  einsum: (c, ...tensors) => tensors[0].kaiseki.einsum(c.t, tensors),
  matmul: (c, ...tensors) => {
    const [a, b] = tensors.map((x) => x.slice(x.shape.map(() => `::${c.d}`).join(', ')));
    return a.matmul(b);
  },
  tensordot: (c, a, b) => ('b' in c ? a.tensordot(b, numbers(c.a), numbers(c.b)) : a.tensordot(b, Number(c.d))),
  meshgrid: (c, ...axes) => axes[0].kaiseki.meshgrid(axes, c.t)[c.d],
};
/** The same for operations without an input. */
const MAKE = {
  eye: (arrays, a) => arrays.eye(...a),
  tri: (arrays, a) => arrays.tri(...a),
  arange: (arrays, a, dtype) => arrays.arange(...a, dtype),
  linspace: (arrays, [count, end]) => arrays.linspace(-1, 2, count, end === 1),
};
const OTHER_NAMES = {
  argmax_all: 'argmax',
  argmin_all: 'argmin',
  repeat_each: 'repeat',
  topk_smallest: 'topk',
  topk_values: 'topk',
};

/** The cases by operation: functions that return the problem of a result, or ''. */
export function readArrayCases(arrays, file) {
  const cases = new Map();
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const [head, result] = line.split(' > '),
      [name, ...words] = head.split(' ');
    const parameters = Object.fromEntries(
      words.filter((word) => word.includes('=')).map((word) => word.split(/=(.*)/s)),
    );
    const inputs = words.filter((word) => !word.includes('='));
    const run = () =>
      arrays.tidy(() => {
        const tensors = inputs.map((text, place) => makeInput(arrays, text, place));
        const made = MAKE[name]
          ? MAKE[name](arrays, numbers(parameters.a), parameters.t)
          : COMPUTE[name](parameters, ...tensors);
        return problem(made, result);
      });
    const operation = OTHER_NAMES[name] ?? name;
    if (!cases.has(operation)) cases.set(operation, []);
    cases.get(operation).push([line, run]);
  }
  return cases;
}
