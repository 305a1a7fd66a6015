// SPDX-License-Identifier: MIT
// Tests bench/web/measure.js with sides whose calls take a given time. The first call of a side must not count.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measure } from '../../bench/web/measure.js';

/** A side whose training calls take `times` milliseconds, one after the other. The last value repeats. */
function side(clock, times, loss = (step) => 1 / step) {
  let calls = 0;
  const train = () => () => {
    clock.now += times[Math.min(calls++, times.length - 1)];
    return loss(calls);
  };
  return async () => ({ open: async () => ({ train }) });
}

async function run(t, peer, { pairs = 5, loss } = {}) {
  const clock = { now: 0 };
  t.mock.method(performance, 'now', () => clock.now);
  const sides = { kaiseki: side(clock, [50, 10]), peer: side(clock, peer, loss) };
  const spec = { peer: { side: 'peer' }, label: 'peer', cases: ['lenet'], pairs, taskWindow: 100, trainWindow: 100 };
  return (await measure(spec, {}, sides)).lenet;
}

test('a slow peer is called once a pair, after its first call', async (t) => {
  const { ours, theirs } = await run(t, [9000, 3000, 3100, 3200, 3300]);
  assert.deepEqual(theirs, [3100, 3200, 3300]);
  assert.deepEqual(ours, [10, 10, 10]);
  assert.deepEqual((await run(t, [9000, 3000], { pairs: 1 })).theirs, [3000]);
});

test('a peer that is slow only in its first call is not a slow peer', async (t) => {
  assert.deepEqual((await run(t, [9000, 20])).theirs, [20, 20, 20, 20, 20]);
});

test('a loss that does not fall is found in a few steps', async (t) => {
  await assert.rejects(
    run(t, [3000], { loss: () => 2 }),
    /expected the loss of lenet to fall from 2, got 2 after 5 steps/,
  );
});
