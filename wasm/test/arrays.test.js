// SPDX-License-Identifier: MIT
// kaiseki/arrays: each operation of its table against NumPy's results or plain loops, and all that surrounds operations.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { load } from 'kaiseki/arrays';
import { clusterCases } from './arrays/cluster.js';
import { readElementwiseCases } from './arrays/elementwise.js';
import { linalgCases } from './arrays/linalg.js';
import { networkCases } from './arrays/networks.js';
import { readArrayCases } from './arrays/numpy.js';
import { plainCases } from './arrays/plain_cases.js';

const arrays = await load();
const file = (name) => new URL(`../../${name}`, import.meta.url);

const tables = [
  readArrayCases(arrays, file('array_cases.txt')),
  readElementwiseCases(arrays, file('numpy/elementwise.txt')),
  ...[plainCases, clusterCases, linalgCases, networkCases].map((cases) => new Map(Object.entries(cases(arrays)))),
];
const casesOf = (name) => tables.flatMap((cases) => cases.get(name) ?? []);

describe('every operation', () => {
  test('the tables have cases of operations only, and more than 14,000 of them', () => {
    const names = new Set(arrays.operations.map(({ name }) => name));
    for (const cases of tables) for (const name of cases.keys()) assert.ok(names.has(name), name);
    assert.ok(arrays.operations.reduce((sum, { name }) => sum + casesOf(name).length, 0) > 14000);
  });

  for (const { name } of arrays.operations)
    test(name, () => {
      const cases = casesOf(name);
      assert.ok(cases.length > 0, `a case of ${name}`);
      const { handles } = arrays.memory();
      for (const [label, run] of cases) assert.ok(!arrays.tidy(run), `${label}: ${arrays.tidy(run)}`);
      assert.equal(arrays.memory().handles, handles);
    });

  test('toString() prints as NumPy does', () => {
    const blocks = readFileSync(file('numpy/print.txt'), 'utf8').split('\nend\n').slice(0, -1);
    for (const block of blocks) {
      const [head, ...lines] = block.split('\n'),
        [dtype, dims, values] = head.split('|'),
        shape = dims.split(' ').filter(Boolean).map(Number);
      const count = shape.reduce((product, dim) => product * dim, 1);
      const range = { f32: (i) => i / 2, i32: (i) => i, u8: (i) => i % 256, bool: (i) => i % 2 }[dtype];
      const numbers =
        values === 'range'
          ? Array.from({ length: count }, (_, i) => range(i))
          : values
              .split(' ')
              .filter(Boolean)
              .map((word) => Number(word.replace('inf', 'Infinity').replace('nan', 'NaN')));
      assert.equal(String(arrays.tensor(numbers, shape, dtype)), lines.join('\n'), head);
    }
    assert.ok(blocks.length >= 150);
  });
});

describe('kaiseki/arrays', () => {
  const list = (tensor) => Array.from(tensor.toTypedArray());
  const x = arrays.arange(24).reshape([2, 3, 4]);
  const refused = (call, kind, message) => assert.throws(call, { name: 'KaisekiError', kind, message });

  test('slices have ..., None and spaces, and views share elements', () => {
    const at = (text) => [x.slice(text).shape, list(x.slice(text))];
    assert.deepEqual(at('..., 0'), [
      [2, 3],
      [0, 4, 8, 12, 16, 20],
    ]);
    assert.deepEqual(at('1,...,:2'), [
      [3, 2],
      [12, 13, 16, 17, 20, 21],
    ]);
    assert.deepEqual(at(' -1 , : , None , ::-3 '), [
      [3, 1, 2],
      [15, 12, 19, 16, 23, 20],
    ]);
    assert.deepEqual(at('0, 0, ..., newaxis'), [
      [4, 1],
      [0, 1, 2, 3],
    ]);
    assert.deepEqual(x.slice('').shape, [2, 3, 4]);
    for (const text of ['a', '1.5', '::0', ':::', '...,...', '1,,2', '9', '0,0,0,0', '+1', '99999999999999999999'])
      assert.throws(() => x.slice(text), { name: 'KaisekiError' }, text);

    const y = x.clone(),
      row = y.slice('0, 1');
    row.set([9, 8, 7, 6]);
    y.slice(':, 2, ::2').set([
      [0, 0],
      [0, 0],
    ]);
    assert.deepEqual(list(y).slice(4, 12), [9, 8, 7, 6, 0, 9, 0, 11]);
  });

  test('tensor() takes nested lists, typed arrays and numbers', () => {
    const made = (...args) => {
      const { dtype, shape } = arrays.tensor(...args);
      return [dtype, shape, list(arrays.tensor(...args))];
    };
    assert.deepEqual(
      made([
        [1, 2],
        [3, 4],
      ]),
      ['f32', [2, 2], [1, 2, 3, 4]],
    );
    assert.deepEqual(made(5), ['f32', [], [5]]);
    assert.deepEqual(made([]), ['f32', [0], []]);
    assert.deepEqual(made([[], []]), ['f32', [2, 0], []]);
    assert.deepEqual(made([true, false], [2, 1], 'bool'), ['bool', [2, 1], [1, 0]]);
    assert.deepEqual(made([true, false]), ['bool', [2], [1, 0]]);
    assert.deepEqual(made([[false], [true]]), ['bool', [2, 1], [0, 1]]);
    assert.deepEqual(made(true), ['bool', [], [1]]);
    refused(() => arrays.tensor([true, 2]), 'Error', /expected values of bool, got 2/);
    refused(() => arrays.tensor([1, true]), 'Error', /expected values of f32, got true/);
    refused(() => arrays.tensor([true], [1], 'f32'), 'Error', /expected values of f32, got true/);
    assert.deepEqual(made(Float64Array.of(0.1, NaN)), ['f64', [2], [0.1, NaN]]);
    assert.deepEqual(made(Int32Array.of(1, 2), [2, 1]), ['i32', [2, 1], [1, 2]]);
    assert.deepEqual(made([Uint8Array.of(1), [2]], undefined, 'u8'), ['u8', [2, 1], [1, 2]]);
    refused(() => arrays.tensor([[1], [2, 3]]), 'ShapeError', /rows of one length/);
    refused(() => arrays.tensor([[1], 2]), 'ShapeError', /rows of one length/);
    refused(() => arrays.tensor([1, 2], [3]), 'ShapeError', /expected 3 values for shape \[3\], got 2/);
    refused(() => arrays.tensor([1.5], [1], 'i32'), 'Error', /expected values of i32, got 1.5/);
    refused(() => arrays.tensor([1], [1], 'f16'), 'Error', /f32, i32, u8, bool, f64, got f16/);
    refused(() => arrays.tensor(['1']), 'Error', /expected values of f32/);
    for (const values of [BigInt64Array.of(1n), new DataView(new ArrayBuffer(4))])
      refused(() => arrays.tensor(values), 'Error', /expected an array of numbers/);
    assert.deepEqual(made(Uint16Array.of(1, 65535)), ['f32', [2], [1, 65535]]);
    const cyclic = [];
    cyclic.push(cyclic);
    refused(() => arrays.tensor(cyclic), 'Error', /at most 8 levels/);
  });

  test('arguments have their places or their names', () => {
    assert.deepEqual(x.sum([0], true).shape, [1, 3, 4]);
    assert.deepEqual(x.sum({ keep_dims: true, axes: Int32Array.of(0) }).shape, [1, 3, 4]);
    assert.deepEqual(x.sum([0], { keep_dims: true }).shape, [1, 3, 4]);
    assert.deepEqual(x.sum(undefined, true).shape, [1, 1, 1]);
    refused(() => x.sum({ axis: 0 }), 'Error', '[sum] expected one of the names axes, keep_dims, got axis');
    refused(() => x.sum([0], { axes: [0] }), 'Error', '[sum] expected one of the names keep_dims, got axes');
    refused(() => x.sum([0], true, 1), 'Error', '[sum] expected at most 3 arguments, got 4');
    refused(() => x.take(), 'Error', '[take] expected indices as a tensor, got nothing');
    refused(() => x.sum([0.5]), 'Error', '[sum] expected axes as a list of integers, got a list of numbers');
    refused(() => x.cumsum(NaN), 'Error', '[cumsum] expected axis as an integer, got the number nan');
    refused(() => x.sum([2 ** 32]), 'Error', /list of integers/);
    refused(() => x.sort(-1, 'yes'), 'Error', "[sort] expected descending as true or false, got 'yes'");
    refused(() => x.qr({ size: 'big' }), 'Error', "[qr] expected size as 'thin' | 'full', got 'big'");
    refused(() => arrays.zeros([1, 1, 1, 1, 1, 1, 1, 1, 1]), 'Error', /at most 8 integers/);
    refused(() => x.sum(Symbol('axis')), 'Error', /got symbol/);
    refused(() => x.add(1n), 'Error', /got bigint/);
    refused(() => x.sum([, 1]), 'Error', /list of numbers or tensors/); // eslint-disable-line no-sparse-arrays
    refused(() => arrays.stack([x, 1], 0), 'Error', /an object of this library, got 1/);
    refused(() => arrays.elementwise('x', { x: 'a' }), 'Error', /a tensor or a number as x, got a/);
  });

  test('a number that is an integer counts as i32', () => {
    const bytes = arrays.tensor([1, 255], undefined, 'u8');
    const type = (tensor) => tensor.dtype;
    assert.deepEqual([bytes.add(1), bytes.add(256), bytes.add(0.5), bytes.add(-0)].map(type), [
      'u8',
      'i32',
      'f32',
      'f32',
    ]);
    assert.deepEqual(type(arrays.elementwise('x + a', { x: bytes.cast('i32'), a: 2 })), 'i32');
    assert.deepEqual(type(arrays.elementwise('x + a', { x: bytes.cast('i32'), a: 2.5 })), 'f32');
    assert.deepEqual(type(bytes.add(1e15)), 'f32');
    assert.deepEqual(list(bytes.greater(1).where(1, 0)), [0, 1]);
  });

  test('errors have the kind and the message of the native library', () => {
    refused(() => x.matmul(arrays.ones([5, 5, 5])), 'ShapeError', /\[gemm\]/);
    refused(() => x.sum([5]), 'ShapeError', /an axis from -3 to 2/);
    refused(() => arrays.zeros([2, 2]).inv(), 'Error', /\[inv\] expected an invertible matrix/);
    refused(() => arrays.read_npy(new Uint8Array(9)), 'ParseError', /memory/);
    refused(() => arrays.parse_csv('1,a'), 'ParseError', /memory/);
    refused(() => arrays.elementwise('x +', { x }), 'Error', /elementwise|expression/);
    refused(() => arrays.zeros([1e9, 1e9]), 'OutOfMemory', /out of memory/);
    refused(() => arrays.zeros([2 ** 40, 2 ** 40]), 'ShapeError', /elements/);
    refused(() => arrays.arange(1e12), 'OutOfMemory', /out of memory/);
    assert.equal(x.sum().item(), 276);
  });

  test('objects that were disposed, and those of another library, are errors', async () => {
    const other = await load(),
      foreign = other.ones([2]),
      gone = arrays.ones([2]);
    gone.dispose();
    gone.dispose();
    refused(() => gone.sum(), 'Error', '[Tensor] expected a live object, got a disposed one');
    refused(() => arrays.ones([2]).add(gone), 'Error', /got a disposed one/);
    refused(
      () => arrays.ones([2]).add(foreign),
      'Error',
      '[Tensor] expected an object of this library, got an object of another',
    );
    refused(() => arrays.concatenate([foreign], 0), 'Error', /an object of another/);
    refused(() => arrays.permutation(3, other.random(1)), 'Error', /an object of another/);
    refused(() => arrays.permutation(3, x), 'Error', /a generator of random\(\), got a tensor/);
    refused(() => x.add(arrays.random(1)), 'Error', /got a generator of random numbers/);
    assert.equal(foreign.add(foreign).sum().item(), 4);
  });

  test('tidy() and dispose() free memory', () => {
    const before = arrays.memory();
    const kept = arrays.tidy(() => x.add(1).multiply(2).svd());
    assert.equal(arrays.memory().handles, before.handles + 3);
    for (const part of Object.values(kept)) part.dispose();
    assert.equal(arrays.memory().handles, before.handles);
    assert.equal(arrays.memory().inUse, before.inUse);
    arrays.trim();
    assert.equal(arrays.memory().cached, 0);
  });

  test('after running out of memory the module still works', () => {
    const large = [];
    assert.throws(
      () => {
        for (;;) large.push(arrays.empty([256 << 20]));
      },
      { kind: 'OutOfMemory' },
    );
    assert.throws(() => large[0].add(1), { kind: 'OutOfMemory' });
    large.forEach((tensor) => tensor.dispose());
    arrays.trim();
    assert.equal(x.sum().item(), 276);
  });
});
