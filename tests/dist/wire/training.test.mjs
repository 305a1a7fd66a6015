// SPDX-License-Identifier: MIT
// Tickets of training in web/pool/, with a package that only records its calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeFrame, encodeFrame } from '../../../web/pool/frame.js';
import { PoolNode } from '../../../web/pool/node.js';
import { Runner } from '../../../web/pool/runner.js';
import { Training, countSamples } from '../../../web/pool/training.js';
import { F32, encode, ticket } from '../../../wasm/test/message.js';

const bytes = (text) => new TextEncoder().encode(text);
const text = (array) => new TextDecoder().decode(array);

/** A ticket is the names of the blobs that it needs. */
function fakePackage() {
  const blobs = new Map();
  return {
    blobs,
    load: async () => ({
      trainingNode: () => ({
        missing: (ticket) =>
          text(ticket)
            .split(' ')
            .filter((name) => !blobs.has(name)),
        addBlob: (name, content) => blobs.set(name, text(content)),
        run: (ticket) =>
          bytes(
            text(ticket)
              .split(' ')
              .map((name) => blobs.get(name))
              .join('+'),
          ),
      }),
    }),
  };
}

/** A worker as Runner uses it, in this thread. */
function makeWorker(kaiseki) {
  const training = new Training(async () => kaiseki);
  const worker = {
    end() {},
    post: (message) => {
      assert.ok(training.accepts(message));
      training.receive(message, (answer) => queueMicrotask(() => worker.onMessage(answer)));
    },
  };
  return worker;
}

const job = (input, blobs = []) => ({ function: 'kaiseki.train', input: bytes(input), blobs });

test('fetches a blob once, and fails the ticket when a blob cannot be fetched', async () => {
  const asked = [];
  const fetchBlob = async (name) => {
    asked.push(name);
    if (name === 'gone') throw new Error('blob gone: 404');
    return bytes(name.toUpperCase());
  };
  const runner = new Runner(() => makeWorker(fakePackage()), 5, fetchBlob);
  assert.equal(text(await runner.run(job('a b'))), 'A+B');
  assert.equal(text(await runner.run(job('b c'))), 'B+C');
  await assert.rejects(runner.run(job('a gone')), /404/);
  assert.equal(text(await runner.run(job('', [bytes('c a')]))), 'C+A');
  await assert.rejects(runner.run(job('', [])), /expected a ticket as input or as the only blob/);
  assert.deepEqual(asked, ['a', 'b', 'c', 'gone']);
});

class FakeSocket {
  readyState = 1;
  sent = [];
  send(message) {
    this.sent.push(decodeFrame(message));
  }
  close() {}
  say(type, control, ticket, payload) {
    this.onmessage({ data: encodeFrame({ type, control, ticket, payload }).buffer });
  }
}

test('counts the samples with gradients, in the input or in a blob', () => {
  const values = new Float32Array(35),
    backward = encode({ work: 'backward', seed: '123' }, [{ name: 'grad_output', type: F32, shape: [7, 5], values }]);
  const none = new Uint8Array();
  assert.equal(countSamples({ input: ticket(), blobs: [] }), 1);
  assert.equal(countSamples({ input: backward, blobs: [] }), 7);
  assert.equal(countSamples({ input: none, blobs: [backward] }), 7);
  assert.equal(countSamples({ input: encode({ work: 'forward' }, []), blobs: [] }), 0);
  assert.equal(countSamples({ input: bytes('another'), blobs: [] }), 0);
  for (let length = 0; length < backward.length; ++length)
    assert.ok(Number.isInteger(countSamples({ input: backward.subarray(0, length), blobs: [] })));
});

async function begin(trainers, input = bytes('x'), onEvent = () => {}) {
  const socket = new FakeSocket();
  const runners = [{ run: async ({ module, code }) => `${module} ${text(code)}`, stop() {} }];
  const node = new PoolNode({
    connect: () => socket,
    fetchBlob: async (hash) => bytes(`code of ${hash}`),
    runners,
    trainers,
    info: {},
    onEvent,
  });
  node.start();
  socket.onopen();
  socket.say('welcome', { node: 'n', key: 'k' });
  socket.say('ticket', { token: 't', function: 'kaiseki.train' }, 1, input);
  socket.say('ticket', { token: 'u', function: 'another', module: 'm' }, 2);
  const answered = (one) => socket.sent.some(({ ticket }) => ticket === one);
  const end = Date.now() + 60_000;
  while (!answered(1) || !answered(2)) {
    assert.ok(Date.now() < end, 'both tickets are answered within 60 s');
    await new Promise(setImmediate);
  }
  for (const one of [1, 2]) socket.say('verdict', { verdict: 'accepted' }, one);
  node.stop();
  return Object.fromEntries(socket.sent.map((frame) => [frame.ticket || frame.type, frame]));
}

test('announces its trainer, and passes each ticket to the right runner', async () => {
  const sent = await begin([
    new Runner(
      () => makeWorker(fakePackage()),
      5,
      async () => bytes('blob'),
    ),
  ]);
  assert.deepEqual(sent.hello.control.functions, ['kaiseki.train']);
  assert.equal(sent[1].type, 'result');
  assert.equal(text(sent[1].payload), 'blob');
  assert.equal(text(sent[2].payload), 'm code of m');
});

test("reports a verdict with the number of its ticket's samples", async () => {
  const heard = [];
  await begin(
    [{ run: async () => new Uint8Array(1), stop() {} }],
    ticket(),
    (event, { samples }) => event === 'result' && heard.push(samples),
  );
  assert.deepEqual(heard, [1, undefined]);
});

test('sends a result even when counting its samples fails', async () => {
  const trainer = { run: async () => new Uint8Array(1), stop() {} };
  const sent = await begin([trainer], bytes('KKT1'));
  assert.equal(sent[1].type, 'result');
});

test('gives training tickets back when it has no trainer', async () => {
  const sent = await begin([]);
  assert.deepEqual(sent.hello.control.functions, []);
  assert.equal(sent[1].type, 'give_back');
  assert.match(sent[1].control.error, /no such function/);
  assert.equal(text(sent[2].payload), 'm code of m');
});

test('ends a worker that could not load its module, and keeps one that could', async () => {
  const workers = [];
  const runner = new Runner(() => {
    const worker = {
      ended: false,
      sent: [],
      post: (message) => worker.sent.push(message),
      end: () => {
        worker.ended = true;
      },
    };
    workers.push(worker);
    return worker;
  }, 10);
  const answer = async (message) => {
    const running = runner.run({ module: 'm', code: 'code', input: '' });
    workers.at(-1).onMessage(message);
    return running;
  };
  await assert.rejects(answer({ error: 'no network' }), /no network/);
  assert.equal(workers[0].ended, true);
  assert.equal(await answer({ result: 1 }), 1);
  await assert.rejects(answer({ error: 'of the ticket' }), /of the ticket/);
  assert.equal(await answer({ result: 2 }), 2);
  assert.equal(workers.length, 2);
  assert.deepEqual(
    workers[1].sent.map(({ code }) => code),
    ['code', undefined, undefined],
  );
});
