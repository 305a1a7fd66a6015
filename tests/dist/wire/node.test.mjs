// SPDX-License-Identifier: MIT
// web/pool/node.js on a fake socket, as with a silent coordinator.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeFrame, encodeFrame } from '../../../web/pool/frame.js';
import { PoolNode } from '../../../web/pool/node.js';

class FakeSocket {
  readyState = 1;
  sent = [];
  closed = false;
  send(message) {
    this.sent.push(decodeFrame(message));
  }
  close() {
    this.closed = true;
  }
  say(type, control, ticket = 0) {
    this.onmessage({ data: encodeFrame({ type, ticket, control }).buffer });
  }
  all(type) {
    return this.sent.filter((frame) => frame.type === type);
  }
}

function begin(t, options = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const sockets = [],
    events = [];
  const node = new PoolNode({
    connect: () => {
      sockets.push(new FakeSocket());
      return sockets.at(-1);
    },
    fetchBlob: async () => new Uint8Array(),
    runners: [],
    info: {},
    silence: 60,
    onEvent: (event, details) => events.push({ event, ...details }),
    ...options,
  });
  node.start();
  sockets[0].onopen();
  return { node, sockets, events };
}
const echoes = (socket) => socket.sent.filter(({ type }) => type === 'echo').length;

test('keeps the connection when the coordinator answers', (t) => {
  const { node, sockets } = begin(t);
  sockets[0].say('welcome', { node: 'n', key: 'k' });
  for (let i = 0; i < 10; ++i) {
    t.mock.timers.tick(30000);
    sockets[0].say('echo', {});
  }
  assert.equal(echoes(sockets[0]), 10);
  assert.equal(sockets.length, 1);
  node.stop();
});

test('reconnects when the coordinator is silent', (t) => {
  const { node, sockets, events } = begin(t);
  sockets[0].say('welcome', { node: 'n', key: 'k' });
  t.mock.timers.tick(30000);
  assert.equal(echoes(sockets[0]), 1);
  assert.equal(sockets[0].closed, false);
  t.mock.timers.tick(30000);
  assert.equal(sockets[0].closed, true);
  assert.equal(events.at(-1).event, 'waiting');
  t.mock.timers.tick(1000);
  assert.equal(sockets.length, 2);
  sockets[1].onopen();
  assert.equal(sockets[1].sent[0].control.node, 'n');
  node.stop();
});

test('closes the connection when no welcome comes', (t) => {
  const { node, sockets } = begin(t);
  t.mock.timers.tick(30000);
  t.mock.timers.tick(30000);
  assert.equal(echoes(sockets[0]), 0);
  assert.equal(sockets[0].closed, true);
  node.stop();
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A runner whose results come from the test: run() waits for the next of `computing`. */
class FakeRunner {
  computing = [];
  stops = 0;
  run(job) {
    return new Promise((resolve, reject) => this.computing.push({ job, resolve, reject }));
  }
  stop() {
    ++this.stops;
    for (const { reject } of this.computing.splice(0)) reject(new Error('stopped'));
  }
}

test('computes a ticket again when it was given back and comes again', async (t) => {
  const fetches = new Map(),
    runners = [new FakeRunner(), new FakeRunner()];
  const {
    node,
    sockets: [socket],
  } = begin(t, { runners, fetchBlob: (hash) => new Promise((resolve) => fetches.set(hash, resolve)) });
  socket.say('welcome', { node: 'n', key: 'k' });
  socket.say('ticket', { token: 'old', module: 'a' }, 7);
  node.setThreads(0);
  node.setThreads(2);
  socket.say('ticket', { token: 'new', module: 'b' }, 7);
  for (const arrive of fetches.values()) arrive(new Uint8Array());
  await settled();
  const computing = runners.flatMap((runner) => runner.computing);
  assert.deepEqual(
    computing.map(({ job }) => job.module),
    ['b'],
  );
  computing[0].resolve('of b');
  await settled();
  assert.deepEqual(
    socket.all('result').map(({ control }) => control.token),
    ['new'],
  );
  node.stop();
});

test('sends no old result when the coordinator does not know the node', async (t) => {
  const runner = new FakeRunner();
  const { node, sockets } = begin(t, { runners: [runner, new FakeRunner()] });
  sockets[0].say('welcome', { node: 'n', key: 'k' });
  sockets[0].say('ticket', { token: 'old', module: 'a' }, 1);
  await settled();
  const [{ resolve }] = node.modules.runners.flatMap(({ computing = [] }) => computing);
  sockets[0].onclose({ code: 1006, reason: '' });
  t.mock.timers.tick(1000);
  sockets[1].onopen();
  sockets[1].onclose({ code: 1008, reason: 'expected a node that is known' });
  assert.deepEqual(
    node.modules.runners.map(({ stops }) => stops),
    [1, 1],
  );
  t.mock.timers.tick(2000);
  sockets[2].onopen();
  sockets[2].say('welcome', { node: 'm', key: 'l' });
  sockets[2].say('ticket', { token: 'new', module: 'b' }, 1);
  resolve('of a');
  await settled();
  assert.deepEqual(sockets[2].all('result'), []);
  assert.deepEqual(sockets[2].all('give_back'), []);
  node.stop();
});

/** Closes the connection and waits for the next one. Returns the delay in seconds. */
function waits(t, { sockets, events }, code = 1006) {
  const before = sockets.length;
  sockets.at(-1).onclose({ code, reason: '' });
  const { seconds } = events.findLast(({ event }) => event === 'waiting');
  t.mock.timers.tick(1000 * seconds + 1);
  assert.equal(sockets.length, before + 1);
  sockets.at(-1).onopen();
  sockets.at(-1).say('welcome', { node: 'n', key: 'k' });
  return seconds;
}

test('doubles the delay until a ticket or a verdict comes', (t) => {
  const begun = begin(t),
    { node, sockets } = begun;
  let last;
  for (let i = 0; i < 6; ++i) last = waits(t, begun);
  assert.ok(last >= 8, `${last} s`);
  sockets.at(-1).say('verdict', { verdict: 'stale' }, 1);
  last = waits(t, begun);
  assert.ok(last <= 0.5, `${last} s`);
  for (let i = 0; i < 6; ++i) waits(t, begun);
  sockets.at(-1).say('ticket', { token: 't', module: 'm' }, 1);
  last = waits(t, begun);
  assert.ok(last <= 0.5, `${last} s`);
  node.stop();
});

test('sends a result again after a reconnection, unless it was too large', async (t) => {
  const runner = new FakeRunner(),
    begun = begin(t, { runners: [runner] }),
    { node, sockets } = begun;
  sockets[0].say('welcome', { node: 'n', key: 'k' });
  sockets[0].say('ticket', { token: 't', module: 'm' }, 1);
  await settled();
  runner.computing[0].resolve('large');
  await settled();
  assert.equal(sockets[0].all('result').length, 1);
  waits(t, begun);
  assert.equal(sockets[1].all('result').length, 1);
  waits(t, begun, 1009);
  assert.equal(sockets[2].all('result').length, 0);
  node.stop();
});

test('counts only accepted results as accepted', async (t) => {
  const {
    node,
    sockets: [socket],
  } = begin(t);
  socket.say('welcome', { node: 'n', key: 'k' });
  for (const verdict of ['accepted', 'pending', 'duplicate', 'stale', 'refused']) socket.say('verdict', { verdict }, 1);
  node.stop();
  assert.deepEqual(await node.ended, { accepted: 1, refused: 1, failed: 0 });
});

test('discards waiting tickets when the connection closes, and finishes started ones', async (t) => {
  const runner = new FakeRunner(),
    begun = begin(t, { runners: [runner] }),
    { node, sockets } = begun;
  sockets[0].say('welcome', { node: 'n', key: 'k' });
  sockets[0].say('ticket', { token: 't', module: 'a' }, 1);
  sockets[0].say('ticket', { token: 't', module: 'b' }, 2);
  await settled();
  waits(t, begun);
  runner.computing[0].resolve('of a');
  await settled();
  assert.deepEqual(
    sockets[1].all('result').map(({ ticket }) => ticket),
    [1],
  );
  assert.equal(runner.computing.length, 1);
  sockets[1].say('ticket', { token: 'u', module: 'b' }, 2);
  await settled();
  assert.equal(runner.computing[1].job.module, 'b');
  node.stop();
});

test('may be stopped by the handler of the waiting event', (t) => {
  let node;
  const { sockets, ...begun } = begin(t, {
    onEvent: (event) => {
      if (event === 'waiting') node.stop();
    },
  });
  node = begun.node;
  sockets[0].say('welcome', { node: 'n', key: 'k' });
  sockets[0].onclose({ code: 4001, reason: 'a liar' });
  t.mock.timers.tick(60000);
  assert.equal(sockets.length, 1);
});

test('gives back tickets and sends a new hello when the trainers change', async (t) => {
  const runner = new FakeRunner(),
    old = new FakeRunner(),
    other = new FakeRunner();
  const { node, sockets, events } = begin(t, { runners: [runner], trainers: [old], info: { gflops: 1 } });
  sockets[0].say('welcome', { node: 'n', key: 'k' });
  sockets[0].say('ticket', { token: 't', function: 'kaiseki.train' }, 1);
  await settled();
  assert.equal(old.computing.length, 1);
  node.announce({ trainers: [other], info: { gflops: 2 } });
  assert.deepEqual(
    sockets[0].all('give_back').map(({ ticket }) => ticket),
    [1],
  );
  assert.equal(old.stops, 1);
  assert.equal(sockets[0].closed, true);
  sockets[0].say('ticket', { token: 'late', function: 'kaiseki.train' }, 2); // sent before the connection closed
  sockets[0].onclose({ code: 1000, reason: '' });
  assert.equal(sockets.length, 2);
  sockets[1].onopen();
  const [{ control }] = sockets[1].all('hello');
  assert.deepEqual([control.node, control.gflops, control.functions], ['n', 2, ['kaiseki.train']]);
  sockets[1].say('welcome', { node: 'n', key: 'k' });
  sockets[1].say('ticket', { token: 'u', function: 'kaiseki.train' }, 3);
  await settled();
  assert.equal(other.computing.length, 1);
  assert.deepEqual(
    events.filter(({ event }) => event === 'waiting'),
    [],
  );
  node.announce({ trainers: [], info: { gflops: 0 } });
  sockets[2].onopen();
  assert.deepEqual(sockets[2].all('hello')[0].control.functions, []);
  node.stop();
});

test('announces a change in the next hello when it is not connected', (t) => {
  const { node, sockets } = begin(t);
  sockets[0].onclose({ code: 1006, reason: '' });
  node.announce({ trainers: [new FakeRunner()], info: { gflops: 3 } });
  assert.equal(sockets.length, 1);
  t.mock.timers.tick(1000);
  sockets[1].onopen();
  assert.equal(sockets[1].all('hello')[0].control.gflops, 3);
  node.stop();
});

test('stops within the time limit when the coordinator does not answer', async (t) => {
  const runners = [new FakeRunner(), new FakeRunner()];
  const {
    node,
    sockets: [socket],
  } = begin(t, { runners });
  socket.say('welcome', { node: 'n', key: 'k' });
  socket.say('ticket', { token: 't', module: 'm' }, 1);
  socket.say('ticket', { token: 'u', module: 'm' }, 2);
  await settled();
  runners[1].computing[0].resolve('first');
  await settled();
  let ended = false;
  node.stop(0.5).then(() => {
    ended = true;
  });
  assert.deepEqual(
    runners.map(({ stops }) => stops),
    [1, 1],
    'stopped at once',
  );
  t.mock.timers.tick(499);
  await settled();
  assert.equal(ended, false, 'waits for the verdict of a result');
  t.mock.timers.tick(1);
  await settled();
  assert.equal(ended, true);
  assert.equal(socket.closed, true);
});

test('stops and gives back a cancelled ticket, but keeps a sent result', async (t) => {
  const runners = [new FakeRunner(), new FakeRunner()];
  const {
    node,
    sockets: [socket],
    events,
  } = begin(t, { runners });
  socket.say('welcome', { node: 'n', key: 'k' });
  for (const ticket of [1, 2, 3, 4]) socket.say('ticket', { token: `t${ticket}`, module: 'm' }, ticket);
  await settled();
  runners[1].computing[0].resolve('of 1'); // the last runner starts this one
  await settled();
  for (const ticket of [1, 2, 4, 5]) socket.say('cancel', {}, ticket);
  await settled();
  assert.deepEqual(
    socket.all('give_back').map(({ ticket, control }) => ({ ticket, ...control })),
    [
      { ticket: 2, token: 't2' },
      { ticket: 4, token: 't4' },
    ],
  );
  assert.deepEqual(
    runners.map(({ stops }) => stops),
    [1, 0],
  );
  assert.equal(runners[1].computing.length, 2, 'of 1 and 3');
  runners[1].computing[1].resolve('of 3');
  await settled();
  assert.equal(runners.flatMap(({ computing }) => computing).length, 2, '4 was never started');
  assert.deepEqual(
    socket.all('result').map(({ ticket }) => ticket),
    [1, 3],
  );
  assert.deepEqual(
    events.filter(({ event }) => event === 'ticket_failed'),
    [],
  );
  node.stop();
});

test('keeps a trainer running when its ticket is cancelled', async (t) => {
  const trainer = new FakeRunner(),
    {
      node,
      sockets: [socket],
    } = begin(t, { trainers: [trainer] });
  socket.say('welcome', { node: 'n', key: 'k' });
  for (const ticket of [1, 2]) socket.say('ticket', { token: 't', function: 'kaiseki.train' }, ticket);
  await settled();
  socket.say('cancel', {}, 1);
  await settled();
  assert.deepEqual(
    socket.all('give_back').map(({ ticket }) => ticket),
    [1],
  );
  assert.deepEqual([trainer.stops, trainer.computing.length], [0, 1]);
  trainer.computing[0].resolve('of 1');
  await settled();
  assert.deepEqual(socket.all('result'), []);
  trainer.computing[1].resolve('of 2');
  await settled();
  assert.deepEqual(
    socket.all('result').map(({ ticket }) => ticket),
    [2],
  );
  node.stop();
});
