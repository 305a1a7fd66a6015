// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { KaisekiError, load } from 'kaiseki/sync';

for (const threads of [1, 2]) {
  describe(`tensors, threads: ${threads}`, async () => {
    const kaiseki = await load({ threads });
    after(() => kaiseki.close());
    const list = (tensor) => Array.from(tensor.toTypedArray());

    test('has the requested number of threads', () => assert.equal(kaiseki.threads, threads));

    test('reads and writes values of every type', () => {
      assert.deepEqual(list(kaiseki.tensor([1, 2.5, -3, 4], [2, 2])), [1, 2.5, -3, 4]);
      const whole = kaiseki.tensor(new Int32Array([7, -8]));
      assert.deepEqual([whole.dtype, whole.shape, list(whole)], ['i32', [2], [7, -8]]);
      assert.equal(kaiseki.tensor(new Uint8Array([255])).item(), 255);
      assert.deepEqual(list(kaiseki.tensor([], [0, 3])), []);
    });

    test('views: reshape, slice, permute, transpose, broadcast', () => {
      const x = kaiseki.tensor([0, 1, 2, 3, 4, 5], [2, 3]);
      assert.deepEqual(x.transpose().shape, [3, 2]);
      assert.deepEqual(list(x.transpose()), [0, 3, 1, 4, 2, 5]);
      assert.deepEqual(list(x.slice(1, 1, 2)), [1, 2, 4, 5]);
      assert.deepEqual(x.reshape([3, -1]).shape, [3, 2]);
      assert.deepEqual(list(kaiseki.tensor([1, 2], [2, 1]).broadcastTo([2, 3])), [1, 1, 1, 2, 2, 2]);
      assert.deepEqual(list(x.take(kaiseki.tensor(new Int32Array([1, 0, 1])))), [3, 4, 5, 0, 1, 2, 3, 4, 5]);
    });

    test('products match plain loops', () => {
      const [m, k, n] = [37, 53, 29];
      const a = kaiseki.uniform([m, k], { seed: 1, low: -1 }),
        b = kaiseki.uniform([k, n], { seed: 2, low: -1 });
      const x = a.toTypedArray(),
        y = b.toTypedArray(),
        z = a.matmul(b).toTypedArray();
      for (let i = 0; i < m; ++i)
        for (let j = 0; j < n; ++j) {
          let sum = 0;
          for (let p = 0; p < k; ++p) sum += x[i * k + p] * y[p * n + j];
          assert.ok(Math.abs(sum - z[i * n + j]) < 1e-5, `${i}, ${j}`);
        }
      assert.deepEqual(list(a.transpose().clone().matmul(b, { transposeA: true })), Array.from(z));
    });

    test('element by element, with broadcasting, and reductions', () => {
      const x = kaiseki.tensor([1, 2, 3, 4], [2, 2]);
      assert.deepEqual(list(x.add(kaiseki.tensor([10, 20])).mul(2)), [22, 44, 26, 48]);
      assert.deepEqual(list(kaiseki.elementwise('x > t ? x : 0', { x, t: 2 })), [0, 0, 3, 4]);
      assert.equal(x.sum().item(), 10);
      assert.deepEqual(list(x.mean([0])), [2, 3]);
      assert.deepEqual(x.max([1], true).shape, [2, 1]);
      assert.deepEqual(list(x.argmax()), [1, 1]);
      const y = kaiseki.tensor([3, -1, 5, 2, 7, -4], [2, 3]);
      assert.deepEqual([list(y.min([1])), list(y.max([1])), y.min().item()], [[-1, -4], [5, 7], -4]);
      assert.deepEqual(
        [list(y.argmin()), list(y.argmin(0)), list(y.argmax(0))],
        [
          [1, 2],
          [1, 0, 1],
          [0, 1, 0],
        ],
      );
      assert.deepEqual(list(x.sub(x).softmax()), [0.5, 0.5, 0.5, 0.5]);
      const sums = [
        [3, -1, 5],
        [2, 7, -4],
      ].map((row) => Math.log(row.reduce((sum, value) => sum + Math.exp(value), 0)));
      list(y.logSoftmax()).forEach((value, i) =>
        assert.ok(Math.abs(value - (list(y)[i] - sums[Math.floor(i / 3)])) < 1e-5),
      );
      assert.deepEqual(list(kaiseki.concatenate([x, x.div(x)], 1)), [1, 2, 1, 1, 3, 4, 1, 1]);
    });

    test('convolution and pooling', () => {
      const x = kaiseki.tensor(
        Float32Array.from({ length: 16 }, (_, i) => i),
        [1, 1, 4, 4],
      );
      const y = kaiseki.conv2d(x, kaiseki.tensor([1, 0, 0, 1], [1, 1, 2, 2]), { bias: kaiseki.tensor([100]) });
      assert.deepEqual(list(y), [105, 107, 109, 113, 115, 117, 121, 123, 125]);
      assert.deepEqual(list(kaiseki.maxPool2d(x)), [5, 7, 13, 15]);
      assert.deepEqual(list(kaiseki.averagePool2d(x, { window: 4 })), [7.5]);
    });

    test("errors have the library's message", () => {
      const x = kaiseki.tensor([1, 2]);
      assert.throws(
        () => x.reshape([3]),
        (error) =>
          error instanceof KaisekiError &&
          error.kind === 'ShapeError' &&
          /^\[reshape\] expected .*, got /.test(error.message),
      );
      assert.throws(() => kaiseki.elementwise('x +', { x }), KaisekiError);
      assert.throws(() => kaiseki.tensor([1, 2], [3]), /expected 3 values/);
      x.dispose();
      x.dispose();
      assert.throws(() => x.sum(), /expected a live object, got a disposed one/);
    });

    test('rejects numbers that do not fit 32 bits', () => {
      const x = kaiseki.tensor([1, 2, 3, 4], [2, 2]),
        refused = (body, got) =>
          assert.throws(body, { name: 'KaisekiError', message: `[tensor] expected a 32-bit integer, got ${got}` });
      refused(() => kaiseki.uniform([4294967301]), '4294967301');
      refused(() => kaiseki.normal([2.7]), '2.7');
      refused(() => kaiseki.empty([2, NaN]), 'NaN');
      refused(() => kaiseki.empty(['3']), '3');
      refused(() => kaiseki.tensor([1, 2], [0.5, 4]), '0.5');
      refused(() => x.reshape([4.5]), '4.5');
      refused(() => x.broadcastTo([2 ** 32 + 1, 2, 2]), '4294967297');
      refused(() => x.permute([1, 0.5]), '0.5');
      refused(() => x.slice(0, 2 ** 32, 1), '4294967296');
      refused(() => x.slice(0, 0), 'undefined');
      refused(() => x.sum([0.5]), '0.5');
      for (const name of ['argmax', 'argmin', 'softmax', 'logSoftmax']) refused(() => x[name](0.5), '0.5');
      refused(() => kaiseki.concatenate([x, x], 1.5), '1.5');
      refused(() => kaiseki.maxPool2d(x.reshape([1, 1, 2, 2]), { window: 1.5 }), '1.5');
      refused(() => kaiseki.conv2d(x, x, { groups: Infinity }), 'Infinity');
      refused(() => kaiseki.batch({ images: x, labels: x }, [0, 2 ** 32]), '4294967296');
      refused(() => kaiseki.digits({ count: 10.5 }), '10.5');
      refused(() => kaiseki.picture(new Uint8Array(1), { width: 8, height: 2 ** 32 + 8 }), '4294967304');
      assert.equal(x.reshape([-1]).slice(0, -0, 4).sum([-1]).item(), 10);
    });

    test('rejects objects of another library and other values', async () => {
      const other = await load({ threads: 1 }),
        x = kaiseki.tensor([1], [1, 1, 1, 1]),
        y = other.tensor([2], [1, 1, 1, 1]);
      const m = x.reshape([1, 1]),
        index = other.tensor([0], [1], 'i32'),
        rule = other.optimizer();
      const network = kaiseki.network({
        inputs: { x: { shape: [1] } },
        layers: [{ type: 'fully_connected', output_size: 1 }, { type: 'mean_squared_error' }],
      });
      for (const [wrong, got] of [
        [y, 'an object of another'],
        [undefined, 'undefined'],
        [network, 'an object'],
        ['1', '1'],
      ])
        for (const call of [
          () => m.matmul(wrong),
          () => m.add(wrong),
          () => m.take(wrong),
          () => kaiseki.concatenate([x, wrong]),
          () => kaiseki.elementwise('x', { x: wrong }),
          () => kaiseki.conv2d(wrong, x),
          () => kaiseki.conv2d(x, wrong),
          () => kaiseki.maxPool2d(wrong),
          () => kaiseki.averagePool2d(wrong),
          () => kaiseki.batch({ images: wrong, labels: x }, [0]),
          () => network.predict(wrong),
          () => network.trainStep(kaiseki.optimizer(), m, wrong),
        ])
          assert.throws(call, {
            name: 'KaisekiError',
            message: `[Tensor] expected an object of this library, got ${got}`,
          });
      const refused = (call) => assert.throws(call, /an object of this library, got an object of another$/);
      refused(() => kaiseki.conv2d(x, x, { bias: y }));
      refused(() => m.take(index));
      refused(() => network.trainStep(rule, m, m));
      refused(() => network.activations(y, [network.summary.layers[0].name]));
      refused(() => network.evaluate({ images: y, labels: m }));
      other.close();
    });

    test('rejects invalid values, seeds and learning rates', () => {
      const refused = (call, message) => assert.throws(call, { name: 'KaisekiError', message });
      refused(
        () => kaiseki.empty([1], 'toString'),
        '[tensor] expected one of the types f32, i32, u8, bool, got toString',
      );
      for (const [value, dtype] of [
        [300, 'u8'],
        [-1, 'u8'],
        [1.5, 'i32'],
        [2 ** 31, 'i32'],
        [NaN, 'i32'],
        ['2', 'f32'],
        [undefined, 'f32'],
        [[1], 'f32'],
      ]) {
        const message = `[tensor] expected values of ${dtype}, got ${typeof value === 'object' ? 'an object' : value}`;
        refused(() => kaiseki.tensor([value], [1], dtype), message);
        refused(() => kaiseki.tensor([0], [1], dtype).set([value]), message);
      }
      const gone = Float32Array.of(1);
      structuredClone(gone.buffer, { transfer: [gone.buffer] });
      refused(() => kaiseki.tensor(gone), '[tensor] expected an array that was not transferred, got a transferred one');
      assert.deepEqual(kaiseki.tensor(new Float32Array()).shape, [0]);
      assert.deepEqual(list(kaiseki.tensor([0, 255], [2], 'u8')), [0, 255]);
      assert.deepEqual(list(kaiseki.tensor([true, 0, 1, false], [4], 'bool')), [1, 0, 1, 0]);
      refused(() => kaiseki.tensor([2], [1], 'bool'), '[tensor] expected values of bool, got 2');
      assert.deepEqual(list(kaiseki.tensor([-0, -(2 ** 31), 2 ** 31 - 1], [3], 'i32')), [0, -(2 ** 31), 2 ** 31 - 1]);
      assert.deepEqual(list(kaiseki.tensor([0.1, NaN, Infinity])), [Math.fround(0.1), NaN, Infinity]);

      const network = kaiseki.network({
        inputs: { x: { shape: [1] } },
        layers: [{ type: 'fully_connected', output_size: 1 }, { type: 'mean_squared_error' }],
      });
      for (const seed of [0.3, -1, NaN, 2 ** 54, Infinity, '1', null])
        for (const call of [
          () => kaiseki.uniform([1], { seed }),
          () => kaiseki.normal([1], { seed }),
          () => kaiseki.digits({ seed }),
          () => network.initialize(seed),
        ])
          refused(call, `[seed] expected an integer from 0 to 2^53, got ${seed === null ? 'an object' : seed}`);
      refused(
        () => kaiseki.trainingNode({ cacheBytes: -1 }),
        '[trainingNode] expected an integer from 0 to 2^53, got -1',
      );
      assert.notEqual(kaiseki.uniform([1], { seed: 2 ** 53 }).item(), kaiseki.uniform([1], { seed: 2 ** 52 }).item());

      const x = kaiseki.tensor([1], [1, 1]),
        optimizer = kaiseki.optimizer('sgd'),
        weights = network.saveWeights();
      for (const rate of [NaN, -0.1, Infinity, '0.1']) {
        const message = `[train] expected a learning rate of 0 or more, got ${rate}`;
        refused(() => network.trainStep(optimizer, x, x, rate), message);
        refused(() => kaiseki.optimizer('sgd', { learningRate: rate }), message);
      }
      assert.deepEqual(network.saveWeights(), weights);
      for (const value of [NaN, 'x'])
        refused(
          () => kaiseki.optimizer('adam', { beta2: value }),
          `[optimizer] expected a number as beta2, got ${value}`,
        );
      refused(() => kaiseki.optimizer('momentum', { momentum: -1 }), /^\[optimizer\] expected momentum/);
    });

    test('the garbage collector frees objects without references', async () => {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc'),
        soon = () => new Promise((resolve) => setTimeout(resolve, 10));
      collect();
      await soon();
      const start = kaiseki.memory().handles;
      const tensors = Array.from({ length: 100 }, () => kaiseki.uniform([10]));
      assert.equal(kaiseki.memory().handles, start + tensors.length);
      tensors.length = 0;
      for (let i = 0; i < 50 && kaiseki.memory().handles > start; ++i) {
        collect();
        await soon();
      }
      assert.ok(kaiseki.memory().handles <= start);
    });

    test('tidy() may return an array of any length', () => {
      assert.equal(kaiseki.tidy(() => new Int32Array(2 ** 24 + 1).map((_, i) => i)).length, 2 ** 24 + 1);
    });

    test('disposes objects by dispose() and by tidy()', () => {
      const before = kaiseki.memory();
      const kept = kaiseki.tidy(() => {
        const x = kaiseki.uniform([1000]);
        kaiseki.tidy(() => x.add(1).mul(2));
        return x.add(x);
      });
      assert.equal(kept.size, 1000);
      assert.equal(kaiseki.memory().handles, before.handles + 1);
      assert.throws(
        () =>
          kaiseki.tidy(() => {
            kaiseki.uniform([10]);
            throw new Error('out');
          }),
        /out/,
      );
      kept.dispose();
      assert.equal(kaiseki.memory().handles, before.handles);
      assert.equal(kaiseki.memory().inUse, before.inUse);
    });

    test('running out of memory is an exception, and the module still works', () => {
      const large = [];
      const free = () => large.splice(0).forEach((tensor) => tensor.dispose());
      assert.throws(
        () => {
          for (;;) large.push(kaiseki.empty([200 << 20]));
        },
        (error) => error instanceof KaisekiError && error.kind === 'OutOfMemory',
      );
      assert.ok(kaiseki.memory().heap > 3.2e9);
      free();
      kaiseki.trim();
      assert.equal(kaiseki.tensor([1, 2, 3]).sum().item(), 6);
      assert.throws(() => kaiseki.empty([2000, 1 << 20]), { kind: 'OutOfMemory' });
      large.push(kaiseki.empty([300 << 20]));
      free();
    });
  });
}

test('the process keeps its own error handlers', async () => {
  const counts = () => ['uncaughtException', 'unhandledRejection', 'exit'].map((event) => process.listenerCount(event));
  const before = counts();
  for (const threads of [1, 2]) (await load({ threads })).close();
  assert.deepEqual(counts(), before);
});

test('rejects an invalid number of threads', async () => {
  await assert.rejects(load({ threads: 0 }), /expected 1 to 1024 threads, got 0/);
});
