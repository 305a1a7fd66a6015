// SPDX-License-Identifier: MIT
// web/pool/runner.js and the runners of web/pool/page_runner.js, with fake workers and a fake clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ThrottledRunner, trainingRunner } from '../../../web/pool/page_runner.js';
import { Runner } from '../../../web/pool/runner.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

function workers() {
  const made = [];
  const make = () => {
    const worker = {
      posted: [],
      ended: false,
      post: (message) => worker.posted.push(message),
      end: () => {
        worker.ended = true;
      },
    };
    made.push(worker);
    return worker;
  };
  return { made, make };
}

test('reuses the worker of a module, and ends it when it is idle', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { made, make } = workers(),
    runner = new Runner(make, 60);
  const run = async (module) => {
    const result = runner.run({ module, code: new Uint8Array(1) });
    made.at(-1).onMessage({ result: 1 });
    await result;
  };
  await run('a');
  t.mock.timers.tick(29_999);
  await run('a');
  t.mock.timers.tick(29_999);
  assert.deepEqual(
    made.map(({ ended }) => ended),
    [false],
  );
  assert.equal(made[0].posted[1].code, undefined, 'the worker has the module');
  t.mock.timers.tick(1);
  assert.deepEqual(
    made.map(({ ended }) => ended),
    [true],
  );
  await run('a');
  assert.equal(made[1].posted[0].code.length, 1);
  const long = runner.run({ module: 'a' });
  t.mock.timers.tick(59_999);
  assert.equal(made[1].ended, false, 'a busy worker is not idle');
  made[1].onMessage({ result: 1 });
  await long;
  runner.stop();
  assert.equal(made[1].ended, true);
});

test("does not count downloads in a ticket's time", async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const pass = async (seconds) => {
    now += 1000 * seconds;
    t.mock.timers.tick(1000 * seconds);
    await settled();
  };
  let come;
  const { made, make } = workers(),
    runner = new Runner(
      make,
      60,
      () =>
        new Promise((resolve) => {
          come = resolve;
        }),
    );
  let why;
  const run = () =>
    runner.run({}).catch(({ message }) => {
      why = message;
    });
  run();
  await pass(40);
  made[0].onMessage({ want: ['a large one'] });
  await pass(195);
  come('bytes');
  await settled();
  assert.deepEqual([why, made[0].posted.at(-1)], [undefined, { fetched: ['bytes'] }]);
  await pass(19);
  assert.equal(why, undefined, '59 s so far');
  await pass(1);
  assert.equal(why, 'took more than 60 s');

  run();
  await pass(30);
  made[1].onMessage({ want: ['a large one'] });
  runner.stop();
  await settled();
  why = undefined;
  run();
  come('bytes'); // for the earlier ticket
  await settled();
  await pass(59);
  assert.deepEqual([why, made[2].ended], [undefined, false]);
  runner.stop();
});

test('limits a ticket of training to 300 s in a page', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lent = { port: 'a port', ended: 0, end: () => ++lent.ended };
  const made = [];
  globalThis.Worker = class {
    posted = [];
    ended = false;
    constructor() {
      made.push(this);
    }
    postMessage(message) {
      this.posted.push(message);
    }
    terminate() {
      this.ended = true;
    }
  };
  t.after(() => {
    delete globalThis.Worker;
  });
  let why;
  trainingRunner(2, 4000, undefined, () => lent)
    .run({})
    .catch(({ message }) => {
      why = message;
    });
  assert.deepEqual(made[0].posted[0], { threads: 2, cacheBytes: 1000, lent: 'a port' });
  t.mock.timers.tick(299_999);
  await settled();
  assert.deepEqual([why, made[0].ended], [undefined, false]);
  t.mock.timers.tick(1);
  await settled();
  assert.deepEqual([why, made[0].ended, made.length, lent.ended], ['took more than 300 s', true, 1, 1]);
});

test('a thread that fails ends its ticket of a training at once', async (t) => {
  globalThis.Worker = class {
    postMessage() {}
    terminate() {}
  };
  t.after(() => {
    delete globalThis.Worker;
  });
  let fail,
    ended = 0;
  const lent = { port: 'a port', end: () => ++ended };
  const runner = trainingRunner(2, 4000, undefined, (onFailure) => {
    fail = onFailure;
    return lent;
  });
  const result = runner.run({});
  fail('unreachable');
  await assert.rejects(result, { message: 'a thread failed: unreachable' });
  assert.equal(ended, 1);
  fail('unreachable'); // the runner has ended this worker
});

test('a worker that lent its stop flag gets 1 before it is ended, unless a thread has failed', async () => {
  for (const [before, after] of [
    [0, 1],
    [2, 2],
  ]) {
    const { made, make } = workers();
    const runner = new Runner(make, 60),
      stopFlag = new Int32Array([before]);
    const result = runner.run({ function: 'training' });
    made[0].onMessage({ stopFlag });
    made[0].end = () => assert.equal(stopFlag[0], after);
    runner.stop();
    await assert.rejects(result, { message: 'stopped' });
  }
});

test('a module cannot lend a stop flag', async () => {
  const { made, make } = workers(),
    runner = new Runner(make, 60);
  const result = runner.run({ module: 'a', code: new Uint8Array(1) });
  made[0].onMessage({ stopFlag: 1 });
  runner.stop();
  await assert.rejects(result, { message: 'stopped' });
  assert.equal(made[0].ended, true);
});

test('pauses so that it computes for its share of the time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const begun = [];
  const resting = new ThrottledRunner(
    {
      run: async () => {
        begun.push(now);
        now += 100;
      },
      stop() {},
    },
    () => 0.2,
  );
  const pass = async (milliseconds) => {
    for (let i = 0; i < milliseconds; i += 10) {
      now += 10;
      t.mock.timers.tick(10);
      await settled();
    }
  };
  await resting.run({});
  const second = resting.run({});
  await pass(390);
  assert.deepEqual(begun, [0]);
  await pass(20);
  assert.deepEqual(begun, [0, 500]);
  await second;
  const cancelled = assert.rejects(resting.run({}), /stopped/);
  await pass(100);
  resting.stop(true);
  await cancelled;
  const third = resting.run({});
  await pass(280);
  assert.deepEqual(begun, [0, 500], 'a cancelled pause continues');
  await pass(20);
  await third;
  assert.deepEqual(begun, [0, 500, 1000]);
});
