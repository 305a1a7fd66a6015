// SPDX-License-Identifier: MIT
// Operations that have no table of NumPy's results: making, copying, comparing, products, and files.
import assert from 'node:assert/strict';
import { near, noise, random, rows, same, times } from './plain.js';

const base64 = (text) => new Uint8Array(Buffer.from(text, 'base64'));
/** np.savez(x=[[1, 2], [3, 4.5]] of float32, n=[7, -8] of big-endian int32). */
const NPZ = base64(
  'UEsDBBQAAAAAAAAAIQAf6eI/kAAAAJAAAAAFABQAeC5ucHkBABAAkAAAAAAAAACQAAAAAAAAAJNOVU1QWQEAdgB7J2Rlc2NyJzogJzxmNCcsIC' +
    'dmb3J0cmFuX29yZGVyJzogRmFsc2UsICdzaGFwZSc6ICgyLCAyKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg' +
    'ICAgICAgICAgICAgICAgICAKAACAPwAAAEAAAEBAAACQQFBLAwQUAAAAAAAAACEAzITZP4gAAACIAAAABQAUAG4ubnB5AQAQAIgAAAAAAAAAiA' +
    'AAAAAAAACTTlVNUFkBAHYAeydkZXNjcic6ICc+aTQnLCAnZm9ydHJhbl9vcmRlcic6IEZhbHNlLCAnc2hhcGUnOiAoMiwpLCB9ICAgICAgICAg' +
    'ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgCgAAAAf////4UEsBAhQDFAAAAAAAAAAhAB/p4j+QAA' +
    'AAkAAAAAUAAAAAAAAAAAAAAIABAAAAAHgubnB5UEsBAhQDFAAAAAAAAAAhAMyE2T+IAAAAiAAAAAUAAAAAAAAAAAAAAIABxwAAAG4ubnB5UEsF' +
    'BgAAAAACAAIAZgAAAIYBAAAAAA==',
);
/** np.save() of [[1, 2, 3], [4, 5, 6]], big-endian float64 in Fortran order. */
const NPY = base64(
  'k05VTVBZAQB2AHsnZGVzY3InOiAnPmY4JywgJ2ZvcnRyYW5fb3JkZXInOiBUcnVlLCAnc2hhcGUnOiAoMiwgMyksIH0gICAgICAgICAgICAgICAgICAg' +
    'ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo/8AAAAAAAAEAQAAAAAAAAQAAAAAAAAABAFAAAAAAAAEAIAAAAAAAAQBgAAAAAAAA=',
);
const TYPES = ['f32', 'i32', 'u8', 'bool', 'f64'];

export function plainCases(arrays) {
  const list = (tensor) => Array.from(tensor.toTypedArray());
  const one = (label, run) => [[label, run]];
  const x23 = () =>
    arrays.tensor([
      [1, 2, 3],
      [4, 5, 6],
    ]);
  const integers = (values) => arrays.tensor(values, undefined, 'i32');
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = (values) => Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));
  const typed = (run) => TYPES.map((dtype) => [dtype, () => run(dtype)]);

  return {
    empty: typed((dtype) => {
      const { shape, size, dtype: made } = arrays.empty([2, 0, 3], dtype);
      assert.deepEqual([made, shape, size], [dtype, [2, 0, 3], 0]);
    }),
    zeros: typed((dtype) => same(arrays.zeros([2, 1], dtype), dtype, [2, 1], [0, 0])),
    ones: typed((dtype) => same(arrays.ones([3], dtype), dtype, [3], [1, 1, 1])),
    full: one('a matrix', () => same(arrays.full([2, 2], -0.5), 'f32', [2, 2], [-0.5, -0.5, -0.5, -0.5])),
    zeros_like: typed((dtype) => same(arrays.ones([2], dtype).zeros_like(), dtype, [2], [0, 0])),
    ones_like: typed((dtype) => same(arrays.zeros([2], dtype).ones_like(), dtype, [2], [1, 1])),
    full_like: one('u8', () => same(arrays.zeros([2], 'u8').full_like(7), 'u8', [2], [7, 7])),
    fill: one('a row of a matrix', () => {
      const x = x23(),
        row = x.slice('1');
      assert.equal(row.fill(9), row);
      same(x, 'f32', [2, 3], [1, 2, 3, 9, 9, 9]);
    }),
    copy: one('to a view with a step', () => {
      const x = x23();
      arrays
        .tensor([[7, 8]])
        .transpose()
        .copy(x.slice(':, ::3'));
      same(x, 'f32', [2, 3], [7, 2, 3, 8, 5, 6]);
    }),
    concatenate: one('along both axes', () => {
      same(arrays.concatenate([x23(), x23()], 0), 'f32', [4, 3], [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]);
      same(arrays.concatenate([x23(), x23()], -1), 'f32', [2, 6], [1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6]);
    }),
    random: one('equal seeds give equal numbers, and streams differ', () => {
      const draw = (...seed) => list(arrays.empty([9]).random_uniform(arrays.random(...seed)));
      assert.deepEqual(draw(3), draw(3));
      assert.notDeepEqual(draw(3), draw(4));
      assert.notDeepEqual(draw(3), draw(3, 1));
    }),
    random_uniform: one('a thousand numbers', () => {
      const values = list(arrays.empty([1000]).random_uniform(arrays.random(1), -2, 4));
      assert.ok(values.every((value) => value >= -2 && value < 4));
      assert.ok(Math.abs(mean(values) - 1) < 0.2); // four standard errors
    }),
    random_normal: one('a thousand numbers', () => {
      const values = list(arrays.empty([1000]).random_normal(arrays.random(1), { mean: 5, deviation: 2 }));
      assert.ok(Math.abs(mean(values) - 5) < 0.25 && Math.abs(deviation(values) - 2) < 0.2); // four standard errors
    }),
    random_bernoulli: one('a thousand numbers', () => {
      const values = list(arrays.empty([1000]).random_bernoulli(arrays.random(1), 0.25, 4));
      assert.ok(values.every((value) => value === 0 || value === 4));
      assert.ok(Math.abs(mean(values) - 1) < 0.22); // four standard errors
    }),
    randi: one('each value occurs', () => {
      const x = arrays.randi(-2, 3, [20, 10], arrays.random(1));
      assert.deepEqual(
        [x.dtype, x.shape, [...new Set(list(x))].sort((a, b) => a - b)],
        ['i32', [20, 10], [-2, -1, 0, 1, 2]],
      );
    }),
    permutation: one('each number once', () => {
      const values = list(arrays.permutation(50, arrays.random(1)));
      assert.notDeepEqual(
        values,
        values.toSorted((a, b) => a - b),
      );
      assert.deepEqual(
        values.toSorted((a, b) => a - b),
        Array.from({ length: 50 }, (_, i) => i),
      );
    }),
    shuffle: one('whole columns', () => {
      const x = x23().shuffle(arrays.random(2), 1);
      assert.deepEqual(
        rows(x.transpose()).toSorted((a, b) => a[0] - b[0]),
        [
          [1, 4],
          [2, 5],
          [3, 6],
        ],
      );
    }),
    choice: one('numbers and weights', () => {
      const random = arrays.random(1);
      assert.equal(new Set(list(arrays.choice(20, 20, random, false))).size, 20);
      same(arrays.choice(arrays.tensor([0, 2, 0]), 3, random), 'i32', [3], [1, 1, 1]);
      assert.throws(() => arrays.choice(arrays.tensor([1, 1]), 2, random, false), { message: /replace/ });
    }),
    reshape: one('also of a view', () => {
      same(x23().reshape([3, -1]), 'f32', [3, 2], [1, 2, 3, 4, 5, 6]);
      same(x23().transpose().reshape([6]), 'f32', [6], [1, 4, 2, 5, 3, 6]);
    }),
    broadcast_to: one('a column', () => same(integers([[1], [2]]).broadcast_to([2, 2]), 'i32', [2, 2], [1, 1, 2, 2])),
    permute: one('three axes', () => {
      const x = arrays.arange(6).reshape([1, 2, 3]).permute([2, 0, 1]);
      same(x, 'f32', [3, 1, 2], [0, 3, 1, 4, 2, 5]);
    }),
    transpose: one('a matrix', () => same(x23().transpose(), 'f32', [3, 2], [1, 4, 2, 5, 3, 6])),
    clone: one('storage of its own', () => {
      const x = x23(),
        other = x.clone();
      x.fill(0);
      same(other, 'f32', [2, 3], [1, 2, 3, 4, 5, 6]);
    }),
    contiguous: one('a view', () => {
      const x = x23().transpose().contiguous();
      assert.equal(x.is_contiguous(), true);
      same(x, 'f32', [3, 2], [1, 4, 2, 5, 3, 6]);
    }),
    is_contiguous: one('a tensor and a view', () => {
      assert.deepEqual([x23().is_contiguous(), x23().transpose().is_contiguous()], [true, false]);
    }),
    elementwise_into: one('adds to a tensor in place', () => {
      const x = x23();
      assert.equal(x.elementwise_into('x + a*x', { x, a: 2 }), x);
      same(x, 'f32', [2, 3], [3, 6, 9, 12, 15, 18]);
    }),
    update: one('momentum', () => {
      const [v, w, g] = [arrays.tensor([1, 2]), arrays.tensor([5, 5]), arrays.tensor([1, 0])];
      assert.equal(arrays.update('v = m*v - g; w = w + v', { v, w, g, m: 0.5 }), undefined);
      assert.deepEqual(
        [list(v), list(w)],
        [
          [-0.5, 1],
          [4.5, 6],
        ],
      );
    }),
    isclose: one('the rule of NumPy', () => {
      const [a, b] = [arrays.tensor([1, 1, NaN, Infinity]), arrays.tensor([1.000001, 1.1, NaN, Infinity])];
      same(a.isclose(b), 'bool', [4], [1, 0, 0, 1]);
      same(a.isclose(b, { relative: 0.2, equal_nan: true }), 'bool', [4], [1, 1, 1, 1]);
    }),
    allclose: one('one answer', () => {
      assert.equal(x23().allclose(x23().add(1e-7)), true);
      assert.equal(x23().allclose(x23().add(1e-3)), false);
      assert.equal(x23().allclose(x23().add(1e-3), { absolute: 1e-2 }), true);
    }),
    array_equal: one('shapes and elements', () => {
      assert.deepEqual(
        [x23().array_equal(x23()), x23().array_equal(x23().reshape([6])), x23().array_equal(x23().add(1))],
        [true, false, false],
      );
    }),
    has_nan: one('one of many', () => {
      assert.deepEqual([arrays.zeros([1000]).has_nan(), arrays.tensor([1, NaN]).has_nan()], [false, true]);
    }),
    reduce: ['sum', 'mean', 'max', 'min', 'prod', 'any', 'all'].map((kind) => [
      kind,
      () => assert.deepEqual(list(arrays.reduce(kind, x23(), [1])), list(x23()[kind]([1]))),
    ]),
    reduce_into: one('sum of squares and what was there', () => {
      const out = arrays.tensor([1, 2]);
      assert.equal(arrays.reduce_into('sum_of_squares', x23(), [1], out, 10), undefined);
      same(out, 'f32', [2], [24, 97]);
    }),
    matmul: [
      [1, 1, 1],
      [7, 5, 3],
      [17, 33, 9],
    ].flatMap(([m, k, n]) =>
      ['f32', 'f64'].map((dtype) => [
        `${dtype} ${m} x ${k} x ${n}`,
        () => {
          const [a, b] = [random(m, k, 1), random(k, n, 2)],
            [x, y] = [a, b].map((values) => arrays.tensor(values, undefined, dtype));
          near(x.matmul(y), times(a, b));
          near(x.transpose().clone().matmul(y.transpose().clone(), true, true), times(a, b));
        },
      ]),
    ),
    gemm: one('alpha, beta, bias and activation', () => {
      const [a, b] = [random(3, 4, 1), random(4, 2, 2)],
        c = arrays.ones([3, 2]);
      const bias = arrays.tensor([0.5, -0.5]);
      const made = arrays
        .tensor(a)
        .gemm(arrays.tensor(b), c, { alpha: 2, beta: 3, bias_per_column: bias, activation: 'relu' });
      assert.equal(made, undefined);
      near(
        c,
        times(a, b).map((row) => row.map((value, j) => Math.max(0, 2 * value + 3 + [0.5, -0.5][j]))),
      );
    }),
    to_string: one('options', () => {
      assert.equal(x23().to_string(), '[[1. 2. 3.]\n [4. 5. 6.]]');
      assert.equal(arrays.tensor([0.123456, 2]).to_string({ precision: 3 }), '[0.123 2.   ]');
      assert.equal(arrays.arange(9).to_string(8, 5, 1), '[0. ... 8.]');
    }),
    read_npy: [
      ['a file of NumPy', () => same(arrays.read_npy(NPY), 'f32', [2, 3], [1, 2, 3, 4, 5, 6])],
      ['its doubles', () => same(arrays.read_npy(NPY, 'f64'), 'f64', [2, 3], [1, 2, 3, 4, 5, 6])],
      [
        'doubles to the last bit, in C and Fortran order',
        () => {
          const values = [0.1, -1e300, 2 ** 53 - 1, NaN, -Infinity, 1e-320];
          const file = arrays.tensor(Float64Array.from(values), [3, 2]).encode_npy();
          same(arrays.read_npy(file, { f8: 'f64' }), 'f64', [3, 2], values);
          // The header says that the elements are in the other order.
          const text = Buffer.from(file).toString('latin1');
          const fortran = Buffer.from(text.replace("'fortran_order': False", "'fortran_order': True "), 'latin1');
          same(
            arrays.read_npy(fortran, 'f64'),
            'f64',
            [3, 2],
            [0, 3, 1, 4, 2, 5].map((at) => values[at]),
          );
          assert.throws(() => arrays.read_npy(file), { kind: 'ParseError' }); // -1e300 is no f32
        },
      ],
      ['other types do not change', () => same(arrays.read_npy(x23().encode_npy(), 'f64'), 'f32', [2, 3], list(x23()))],
      [
        'no other type',
        () => assert.throws(() => arrays.read_npy(NPY, 'i32'), { message: /f8 as 'f32' \| 'f64', got 'i32'/ }),
      ],
    ],
    encode_npy: typed((dtype) => {
      const values = arrays.arange(6).reshape([2, 3]).greater(2).cast(dtype);
      const file = values.encode_npy();
      same(arrays.read_npy(file), dtype === 'f64' ? 'f32' : dtype, [2, 3], [0, 0, 0, 1, 1, 1]);
      same(arrays.read_npy(file, 'f64'), dtype, [2, 3], [0, 0, 0, 1, 1, 1]);
    }),
    read_npz: one('a file of NumPy', () => {
      const { x, n, ...rest } = arrays.read_npz(NPZ);
      assert.deepEqual(rest, {});
      same(x, 'f32', [2, 2], [1, 2, 3, 4.5]);
      same(n, 'i32', [2], [7, -8]);
    }),
    encode_npz: one('read again, in order', () => {
      const read = arrays.read_npz(arrays.encode_npz({ b: x23(), a: integers([7]) }));
      assert.deepEqual(Object.keys(read), ['b', 'a']);
      same(read.a, 'i32', [1], [7]);
    }),
    parse_csv: one('a table', () => same(arrays.parse_csv('1,2.5\n\n-3,nan\n'), 'f32', [2, 2], [1, 2.5, -3, NaN])),
    format_csv: one('read again, to the last bit', () => {
      const x = arrays.tensor(noise(12), [4, 3]);
      assert.deepEqual(list(arrays.parse_csv(x.format_csv())), list(x));
      assert.equal(integers([1, 2]).format_csv(), '1\r\n2\r\n');
    }),
    parse_matrix_json: one('by columns', () => {
      const data = Buffer.from(Float32Array.of(1, 2, 3, 4, 5, 6).buffer).toString('base64');
      const text = JSON.stringify({ rows: 2, cols: 3, data, row_wise: false });
      same(arrays.parse_matrix_json(text), 'f32', [2, 3], [1, 3, 5, 2, 4, 6]);
    }),
    format_matrix_json: one('the members of Sushi', () => {
      const { rows: m, cols, data, row_wise } = JSON.parse(x23().format_matrix_json());
      const floats = new Float32Array(base64(data).buffer);
      assert.deepEqual([m, cols, row_wise, Array.from(floats)], [2, 3, true, [1, 2, 3, 4, 5, 6]]);
    }),
  };
}
