// SPDX-License-Identifier: MIT
// web/pool/task_worker_node.js: a task's code cannot escape through its arguments. The worker runs without join.js's
// flag that forbids code from strings. A function of Node's own realm would therefore give access to `process`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

const reach = "constructor.constructor('return process')().version";
const ways = {
  'the input': `export const calculate = (input) => input.${reach};`,
  'the list of blobs': `export const calculate = (input, blobs) => blobs.${reach};`,
  'a blob': `export const calculate = (input, [blob]) => blob.${reach};`,
  'its own Uint8Array': `Uint8Array.from = (bytes) => bytes.${reach};
    Uint8Array.prototype.set = Uint8Array.from;
    export const calculate = (input, [blob]) => String(input.length + blob.length);`,
  "a proxy's arguments": `export const calculate = new Proxy(() => {}, {apply: (target, self, list) => list.${reach}});`,
  "a promise's resolver": `export const calculate = () => ({then(resolve) { resolve(resolve.${reach}); }});`,
};

const answer = (worker) =>
  new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });

function startWorker(t) {
  const worker = new Worker(new URL('../../../web/pool/task_worker_node.js', import.meta.url), {
    execArgv: ['--experimental-vm-modules', '--no-warnings'],
  });
  t.after(() => worker.terminate());
  return worker;
}

for (const [what, source] of Object.entries(ways))
  test(`cannot escape through ${what}`, async (t) => {
    const worker = startWorker(t);
    worker.postMessage({
      module: 'm',
      code: new TextEncoder().encode(source),
      input: new Uint8Array(1),
      blobs: [new Uint8Array(2)],
    });
    const { result = new Uint8Array(), error } = await answer(worker);
    assert.doesNotMatch(new TextDecoder().decode(result), /^v/);
    if (what === 'its own Uint8Array') assert.equal(new TextDecoder().decode(result), '3');
    else assert.match(error, /Code generation from strings disallowed/);
  });

// The module of docs/samples.md: the sum of the input's bytes, then the sum of each blob's bytes.
const sums = Buffer.from(
  'AGFzbQEAAAABDgJgAX8Bf2AEf39/fwF/AwMCAAEFBAEBAgIHIQMGbWVtb3J5AgAIYWxsb2NhdGUAAAljYWxjdWxhdGUAAQqAAwIdAQF/QYAIQYAI' +
    'KAIAIgEgAEEHakF4cWo2AgAgAQvfAgEGfwJAIAFFDQAgAUEDcSEGAkAgAUEBa0EDSQRADAELIAFBfHEhBwNAIAQgACAFaiIBLQAAaiABQQFqLQAA' +
    'aiABQQJqLQAAaiABQQNqLQAAaiEEIAcgBUEEaiIFRw0ACwsgBkUNACAAIAVqIQEDQCAEIAEtAABqIQQgAUEBaiEBIAZBAWsiBg0ACwtBiAggBDYC' +
    'ACADBEADQCAEQegHbCEJQQAhBAJAIAIgCEEDdGoiBSgCBCIBRQ0AIAUoAgAhACABQQNxIQZBACEFIAFBAWtBA08EQCABQXxxIQcDQCAEIAAgBWoi' +
    'AS0AAGogAUEBai0AAGogAUECai0AAGogAUEDai0AAGohBCAHIAVBBGoiBUcNAAsLIAZFDQAgACAFaiEBA0AgBCABLQAAaiEEIAFBAWohASAGQQFr' +
    'IgYNAAsLQYgIIAQgCWoiBDYCACAIQQFqIgggA0cNAAsLQYQICwsMAQBBgAgLBRAEAQAE',
  'base64',
);

test('passes the input and the blobs to WebAssembly', async (t) => {
  const worker = startWorker(t);
  const sum = async (input, ...blobs) => {
    worker.postMessage({
      module: 'm',
      code: sums,
      input: Uint8Array.from(input),
      blobs: blobs.map((blob) => Uint8Array.from(blob)),
    });
    const { result, error } = await answer(worker);
    return error ?? new DataView(result.buffer).getUint32(0, true);
  };
  assert.equal(await sum([1, 2, 3]), 6);
  assert.equal(await sum([]), 0);
  assert.equal(await sum([1, 2, 3], [4, 5], [], [255, 1, 1]), 6_009_000_257 % 2 ** 32);
  assert.match(await sum(new Uint8Array(1 << 17)), /out of bounds/);
});
