// SPDX-License-Identifier: MIT
// The library in a worker: the same results as without a worker, scopes, errors, and the worker's end.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { after, describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import workers from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { KaisekiError, load } from 'kaiseki';
import { load as loadHere } from 'kaiseki/sync';

const lenet = readFileSync(new URL('../../models/lenet-dag.json', import.meta.url), 'utf8');
const started = [];
const scripts = []; // of the next workers; undefined: the package's script
workers.Worker = class extends workers.Worker {
  constructor(own, options) {
    super(scripts.shift() ?? own, options);
    started.push(this);
  }
};
syncBuiltinESMExports();

const list = async (tensor) => Array.from(await tensor.toTypedArray());

for (const threads of [1, 2]) {
  describe(`the client, threads: ${threads}`, async () => {
    const kaiseki = await load({ threads });
    after(() => kaiseki.close());

    test('operations return the same as without a worker', async () => {
      const here = await loadHere({ threads: 1 });
      const work = async (library) => {
        const a = await library.uniform([5, 7], { seed: 1 }),
          b = await library.normal([7, 3], { seed: 2 });
        const steps = [
          await a.matmul(b),
          await a.add(1),
          await a.transpose(),
          await a.slice(1, 2, 3),
          await a.sum([0], true),
          await a.argmax(),
          await a.softmax(0),
          await b.reshape([-1]),
          await library.elementwise('s*x - y', { s: 3, x: a, y: await a.mul(a) }),
          await library.concatenate([a, a], 1),
          await a.take(await library.tensor([4, 0], [2], 'i32')),
          await library.conv2d(await library.uniform([1, 2, 8, 8]), await library.uniform([3, 2, 3, 3]), {
            padding: 1,
            bias: await library.tensor([1, 2, 3]),
          }),
          await library.maxPool2d(await library.uniform([1, 2, 8, 8]), { window: 3, stride: 2 }),
          await library.averagePool2d(await library.uniform([1, 2, 8, 8]), { window: 3, stride: 2 }),
          await a.min([1]),
          await a.argmin(0),
          await a.logSoftmax(),
        ];
        const found = [];
        for (const tensor of steps) found.push([tensor.dtype, tensor.shape, tensor.size, await list(tensor)]);
        return found;
      };
      assert.deepEqual(await work(kaiseki), await work(here));
      assert.equal(kaiseki.threads, threads);
      assert.equal(await (await kaiseki.tensor([2, 3])).sum().then((sum) => sum.item()), 5);
      here.close();
    });

    test('tensor() takes arrays, views of them, and transferred memory', async () => {
      const values = Float32Array.of(1, 2, 3, 4);
      assert.deepEqual(await list(await kaiseki.tensor(values.subarray(1, 3))), [2, 3]);
      assert.deepEqual(await list(await kaiseki.tensor(Buffer.from([7, 8, 9]).subarray(1))), [8, 9]);
      assert.deepEqual(await list(await kaiseki.tensor(values.subarray(2), [2], 'f32', { transfer: true })), [3, 4]);
      assert.equal(values.length, 4);
      const moved = await kaiseki.tensor(values, [2, 2], 'f32', { transfer: true });
      assert.equal(values.length, 0);
      await moved.set([5, 6, 7, 8]);
      assert.deepEqual(await list(moved), [5, 6, 7, 8]);
    });

    test('calls take effect in order', async () => {
      const x = await kaiseki.tensor([1]);
      const before = x.add(1),
        set = x.set([10]),
        after = x.add(1);
      x.dispose();
      assert.deepEqual([await (await before).item(), await set, await (await after).item()], [2, undefined, 11]);
    });

    test('an error message with the word recursion does not end the worker', async () => {
      const wrong = JSON.stringify({ inputs: { x: { shape: [2] } }, layers: [{ type: 'recursion' }] });
      await assert.rejects(
        kaiseki.network(wrong),
        (error) => error.kind !== 'Closed' && /recursion/.test(error.message),
      );
      assert.equal(await (await kaiseki.tensor([3])).item(), 3);
    });

    test('calls take effect in order while a weights file is read', async () => {
      const network = await kaiseki.network(lenet),
        { images } = await kaiseki.digits({ count: 4 });
      const files = [],
        expected = [];
      for (const seed of [1, 2]) {
        await network.initialize(seed);
        files.push(new Blob([gzipSync(await network.saveWeights())]));
        expected.push(await list(await network.predict(images)));
      }
      const pending = [];
      for (const file of files) pending.push(network.loadWeights(file), network.predict(images).then(list));
      pending.push(network.initialize(1), network.predict(images).then(list));
      const stop = new AbortController(),
        evaluation = network.evaluate({ images, labels: images }, { signal: stop.signal });
      stop.abort();
      network.dispose();
      await assert.rejects(evaluation, { name: 'AbortError' });
      const found = await Promise.all(pending);
      assert.deepEqual([found[1], found[3], found[5]], [expected[0], expected[1], expected[0]]);
      const other = await kaiseki.network(lenet),
        failed = other.loadWeights(new Blob(['nonsense']));
      const after = other.predict(images);
      await assert.rejects(failed, { kind: 'ParseError' });
      assert.deepEqual((await after).shape, [4, 10]);
    });

    test('errors keep kind and message across the worker boundary', async () => {
      const x = await kaiseki.tensor([1, 2]);
      await assert.rejects(
        x.reshape([3]),
        (error) =>
          error instanceof KaisekiError &&
          error.kind === 'ShapeError' &&
          /^\[reshape\] expected .*, got /.test(error.message),
      );
      await assert.rejects(kaiseki.network('{"inputs": {"x": {"shape": [1]}}, "layers": [{"type": "nonsense"}]}'), {
        kind: 'ParseError',
        message: /nonsense/,
      });
      await assert.rejects(kaiseki.conv2d(x), { name: 'KaisekiError', kind: 'Error' });
      await assert.rejects(kaiseki.uniform([1], { seed: () => 1 }), { name: 'DataCloneError' });
      x.dispose();
      x.dispose();
      await assert.rejects(x.sum(), /expected a live object, got a disposed one/);
      assert.equal(await (await kaiseki.tensor([3])).item(), 3);
    });

    test('rejects objects of another library', () =>
      kaiseki.tidy(async (kaiseki) => {
        const other = await load({ threads: 1 }),
          [x, y] = [await kaiseki.tensor([1], [1, 1]), await other.tensor([2], [1, 1])];
        const network = await kaiseki.network(lenet),
          rule = await other.optimizer(),
          data = { images: x, labels: x };
        for (const call of [
          () => x.matmul(y),
          () => x.add(y),
          () => kaiseki.concatenate([x, y]),
          () => kaiseki.elementwise('x', { x: y }),
          () => kaiseki.conv2d(x, x, { bias: y }),
          () => kaiseki.tidy((scope) => scope.maxPool2d(y)),
          () => network.predict(y),
          () => network.evaluate({ images: x, labels: y }),
          () => kaiseki.train(network, rule, data).finished,
        ])
          await assert.rejects(call(), {
            name: 'KaisekiError',
            message: /^\[\w+\] expected objects of this library, got an object of another$/,
          });
        other.close();
      }));

    test('rejects values that the module cannot hold', () =>
      kaiseki.tidy(async (kaiseki) => {
        const x = await kaiseki.tensor([1]),
          refused = (result, message) => assert.rejects(result, { name: 'KaisekiError', message });
        await refused(kaiseki.tensor([300], [1], 'u8'), '[tensor] expected values of u8, got 300');
        await refused(
          kaiseki.tensor([1], [1], 'constructor'),
          /^\[tensor\] expected one of the types f32, i32, u8, bool, got constructor$/,
        );
        await refused(x.add(undefined), '[Tensor] expected an object of this library, got undefined');
        await refused(x.set(['1']), '[tensor] expected values of f32, got 1');
        await refused(kaiseki.digits({ count: 5, seed: 0.5 }), '[seed] expected an integer from 0 to 2^53, got 0.5');
        const gone = Float32Array.of(1);
        structuredClone(gone.buffer, { transfer: [gone.buffer] });
        for (const transfer of [false, true])
          await refused(
            kaiseki.tensor(gone, [1], 'f32', { transfer }),
            '[tensor] expected an array that was not transferred, got a transferred one',
          );
        assert.deepEqual(await (await kaiseki.tensor(new Float32Array())).shape, [0]);
      }));

    test('objects of a scope that has ended are freed at once', async () => {
      const kaiseki = await load({ threads }); // a library without the garbage of other tests
      const start = (await kaiseki.memory()).handles,
        late = [];
      await assert.rejects(
        kaiseki.tidy((scope) => {
          const wrong = scope.network('{');
          late.push(
            scope.uniform([10]),
            scope.tidy((inner) => inner.normal([3])),
          );
          return Promise.all([wrong, ...late]);
        }),
        { kind: 'ParseError' },
      );
      for (const tensor of await Promise.all(late)) assert.ok(tensor.disposed);
      assert.equal((await kaiseki.memory()).handles, start);
      kaiseki.close();
    });

    test('tidy() may return an array of any length', async () => {
      assert.equal((await kaiseki.tidy(async () => new Int32Array(2 ** 24 + 1).map((_, i) => i))).length, 2 ** 24 + 1);
    });

    test('tidy() frees all objects except its result', async () => {
      const kaiseki = await load({ threads });
      const start = (await kaiseki.memory()).handles,
        x = await kaiseki.tensor([1, 2, 3]);
      const kept = await kaiseki.tidy(async (scope) => {
        const y = await (await scope.uniform([3])).add(x);
        const { inner } = await scope.tidy(async (scope) => ({
          inner: await (await scope.tensor([1])).add(y),
          other: 1,
        }));
        assert.ok(!inner.disposed);
        return (await inner.add(1)).sum();
      });
      assert.equal((await kaiseki.memory()).handles, start + 2);
      assert.ok(Number.isFinite(await kept.item()));
      await assert.rejects(
        kaiseki.tidy(async (scope) => {
          await scope.uniform([3]);
          throw new Error('out');
        }),
        /out/,
      );
      const network = await kaiseki.tidy((scope) => scope.network(lenet));
      assert.equal((await network.parameters()).length, 8);
      assert.equal((await kaiseki.memory()).handles, start + 11);
      kaiseki.close();
    });

    test('the garbage collector frees objects without references', async () => {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc'),
        start = (await kaiseki.memory()).handles;
      for (let i = 0; i < 100; ++i) await kaiseki.uniform([10]);
      for (let i = 0; i < 50 && (await kaiseki.memory()).handles > start; ++i) {
        collect();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      assert.ok((await kaiseki.memory()).handles <= start);
    });

    test('the garbage collector keeps the objects of running calls', async () => {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc'),
        stop = new AbortController();
      const using = async (body) => {
        const data = await kaiseki.digits({ count: 50 });
        return body(await kaiseki.network(lenet), data, await kaiseki.optimizer());
      };
      let steps = 0;
      const training = await using((network, data, optimizer) =>
        kaiseki.train(network, optimizer, data, { batchSize: 5, signal: stop.signal, onStep: () => ++steps }),
      );
      const evaluation = await using((network, data) => ({ finished: network.evaluate(data, { batchSize: 1 }) }));
      let score;
      const evaluated = evaluation.finished.then((found) => (score = found));
      while (!score || steps < 20) {
        collect();
        await Promise.race([kaiseki.memory(), training.finished]);
      }
      assert.ok((await evaluated).loss > 0);
      const before = steps;
      await training.pause();
      training.resume();
      while (steps < before + 5) await Promise.race([kaiseki.memory(), training.finished]);
      stop.abort();
      await assert.rejects(training.finished, { name: 'AbortError' });
    });

    test('networks: properties, prediction, activations, weights', async () => {
      const network = await kaiseki.network(lenet),
        other = await kaiseki.network(JSON.parse(lenet));
      assert.deepEqual([network.inputShape, network.outputShape, network.layers.length], [[1, 28, 28], [10], 8]);
      assert.equal(network.json.name, 'lenet');
      await network.initialize(7);
      assert.deepEqual([network.hasWeights, other.hasWeights], [true, false]);
      const { images } = await kaiseki.digits({ count: 4 }),
        expected = await list(await network.predict(images));
      const file = await network.saveWeights();
      for (const bytes of [file, file.buffer.slice(0), new Blob([file]), gzipSync(file)]) {
        await other.initialize(1);
        assert.match(await other.loadWeights(bytes), /^8 tensors loaded/);
        assert.ok(other.hasWeights);
        assert.deepEqual(await list(await other.predict(images)), expected);
      }
      const [maps, logits] = await network.activations(images, ['pool2', 'fc4']);
      assert.deepEqual(
        [maps.shape, logits.shape],
        [
          [4, 50, 4, 4],
          [4, 10],
        ],
      );
      const [{ name, value }] = await network.parameters();
      assert.deepEqual([name, value.shape], ['conv1.weight', [20, 1, 5, 5]]);
      await assert.rejects(network.loadWeights(file.subarray(0, 100)), { kind: 'ParseError' });

      const here = await loadHere({ threads: 1 }),
        twin = here.network(lenet),
        data = here.digits({ count: 4 });
      twin.loadWeights(file);
      const optimizer = await kaiseki.optimizer('sgd'),
        { labels } = await kaiseki.digits({ count: 4 });
      assert.deepEqual(
        await network.trainStep(optimizer, images, labels, 0.03),
        twin.trainStep(here.optimizer('sgd'), data.images, data.labels, 0.03),
      );
      const rule = here.optimizer('sgd');
      assert.deepEqual(await network.backward(images, labels), twin.backward(data.images, data.labels));
      await network.addTar(twin.gatherTar());
      twin.addTar(twin.gatherTar());
      await network.step(optimizer, 0.01);
      twin.step(rule, 0.01);
      assert.deepEqual(await network.gatherTar(), twin.gatherTar());
      assert.deepEqual(await network.saveWeights(), twin.saveWeights());
      here.close();
    });

    test('running out of memory is an error, and the library still works', async () => {
      const large = [];
      await assert.rejects(
        async () => {
          for (;;) large.push(await kaiseki.empty([200 << 20]));
        },
        { kind: 'OutOfMemory' },
      );
      assert.ok((await kaiseki.memory()).heap > 3.2e9);
      for (const tensor of large) tensor.dispose();
      await kaiseki.trim();
      assert.equal(await (await (await kaiseki.tensor([1, 2, 3])).sum()).item(), 6);
    });
  });
}

describe("the worker's end", () => {
  test('close() rejects pending calls, and load() works again', async () => {
    const kaiseki = await load({ threads: 1 }),
      { images, labels } = await kaiseki.digits({ count: 100 });
    const network = await kaiseki.network(lenet),
      optimizer = await kaiseki.optimizer();
    const { finished } = kaiseki.train(network, optimizer, { images, labels });
    kaiseki.close();
    await assert.rejects(finished, { kind: 'Closed', message: /call load\(\) again/ });
    await assert.rejects(images.sum(), { kind: 'Closed' });
    assert.equal(await kaiseki.closed, undefined);
    images.dispose();
    const again = await load({ threads: 1 });
    assert.equal(await (await again.tensor([4])).item(), 4);
    again.close();
  });

  for (const threads of [1, 3])
    test(`reports that the worker was killed, threads: ${threads}`, async () => {
      started.length = 0;
      const kaiseki = await load({ threads });
      assert.equal(started.length, threads);
      const pending = Promise.allSettled([kaiseki.digits({ count: 5000 }), kaiseki.uniform([10])]);
      await started[0].terminate();
      for (const { reason } of await pending) assert.equal(reason?.kind, 'Closed');
      assert.equal((await kaiseki.closed).kind, 'Closed');
      await assert.rejects(kaiseki.uniform([10]), { kind: 'Closed' });
      const again = await load({ threads });
      assert.equal(again.threads, threads);
      again.close();
    });

  test('ends the worker when the module traps', async () => {
    scripts.push(new URL('trap.js', import.meta.url));
    const kaiseki = await load({ threads: 1 });
    assert.equal(await (await kaiseki.tensor([3])).item(), 3);
    const results = await Promise.allSettled([kaiseki.trim(), kaiseki.uniform([1])]);
    for (const { reason } of results)
      assert.match(reason?.message, /expected a running worker, got its end \(unreachable\)/);
    assert.match((await kaiseki.closed).message, /unreachable/);
  });

  test('ends the worker when a thread traps in a product', { timeout: 60000 }, async () => {
    scripts.push(undefined, new URL('trap_thread.js', import.meta.url));
    const kaiseki = await load({ threads: 2 }),
      x = await kaiseki.tensor(new Float32Array(1e6), [1000, 1000]);
    const message = /expected a running worker, got its end \(a thread failed: .*\): call load\(\) again/;
    await assert.rejects(
      async () => {
        for (;;) await Promise.all([x.matmul(x), x.add(x)]);
      },
      { kind: 'Closed', message },
    );
    assert.match((await kaiseki.closed).message, message);
    await assert.rejects(x.sum(), { kind: 'Closed' });
    const again = await load({ threads: 2 });
    assert.equal(await (await again.tensor([4])).item(), 4);
    again.close();
  });

  test('a trap of a thread ends an operation of kaiseki/sync, in whose thread nothing else can run', () => {
    const script = `import { syncBuiltinESMExports } from 'node:module';
      import workers from 'node:worker_threads';
      const { Worker } = workers;
      workers.Worker = class extends Worker {
        constructor(_, options) { super(new URL(${JSON.stringify(new URL('trap_thread.js', import.meta.url))}), options); }
      };
      syncBuiltinESMExports();
      const { load } = await import('kaiseki/sync');
      const kaiseki = await load({ threads: 2 }), x = kaiseki.tensor(new Float32Array(1e6), [1000, 1000]);
      const attempt = (body) => { try { body(); } catch (error) { console.log(error.kind, error.message); } };
      attempt(() => { for (;;) kaiseki.tidy(() => x.matmul(x)); });
      attempt(() => x.sum());
      x.dispose();
      kaiseki.close();`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'], // Emscripten's report of the trap goes to standard error
      timeout: 60000,
    });
    assert.equal(
      output,
      'Closed [threads] a thread has failed, or the library was stopped: call load() again\n'.repeat(2),
    );
  });

  test('another thread ends an operation of kaiseki/sync with one thread', () => {
    const script = `import { Worker } from 'node:worker_threads';
      const { load } = await import('kaiseki/sync');
      const kaiseki = await load({ threads: 1, stoppable: true }), x = kaiseki.uniform([6000, 6000]);
      const stop = "setTimeout(() => Atomics.store(require('node:worker_threads').workerData, 0, 1), 100)";
      new Worker(stop, { eval: true, execArgv: [], workerData: kaiseki.stopFlag });
      try { x.matmul(x); } catch (error) { console.log(kaiseki.threads, error.kind, error.message); }`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 60000,
    });
    assert.equal(output, '1 Closed [threads] a thread has failed, or the library was stopped: call load() again\n');
  });

  test('aborts the reading of a stalled blob', { timeout: 60000 }, async () => {
    started.length = 0;
    scripts.push(new URL('stalled_blob.js', import.meta.url));
    const kaiseki = await load({ threads: 1 }),
      network = await kaiseki.network(lenet),
      blob = new Blob(['x']);
    let cancelled = 0;
    started[0].on('message', (message) => (cancelled += message === 'cancelled'));
    const expected = await network.saveWeights();
    for (const read of [
      (options) => network.loadWeights(blob, options),
      (options) => kaiseki.picture(blob, { width: 1, height: 1, ...options }),
      (options) => kaiseki.mnist({ images: blob, labels: new Uint8Array(1) }, options),
      (options) => kaiseki.cifar10([blob], options),
    ]) {
      const stop = new AbortController(),
        before = cancelled;
      const reading = read({ signal: stop.signal });
      stop.abort(new Error('enough'));
      await assert.rejects(reading, /enough/);
      assert.equal(cancelled, before + 1);
    }
    assert.equal(network.hasWeights, false);
    assert.deepEqual(await network.saveWeights(), expected);
    kaiseki.close();
  });

  test('rejects an invalid number of threads', async () => {
    await assert.rejects(load({ threads: 0 }), /expected 1 to 1024 threads, got 0/);
  });

  test('a process exits when no call is pending', () => {
    const script = `import { load } from 'kaiseki';
      const kaiseki = await load({ threads: 2 });
      console.log(await (await (await kaiseki.uniform([1000])).sum()).item() > 400);`;
    assert.equal(
      execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', timeout: 60000 }),
      'true\n',
    );
  });
});
