// SPDX-License-Identifier: MIT
// The memory of a task in web/pool/task_worker_node.js. Modules that grow without end fail. Others compute the same as
// without a limit. web/pool/node.js takes no ticket that is too large for it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { decodeFrame, encodeFrame } from '../../../web/pool/frame.js';
import { PoolNode } from '../../../web/pool/node.js';
import { Runner } from '../../../web/pool/runner.js';
import { checkMemory } from '../../../web/pool/wasm_memory.js';

const MiB = 2 ** 20;
const memory = 16 * MiB;

function startWorker(t) {
  const worker = new Worker(new URL('../../../web/pool/task_worker_node.js', import.meta.url), {
    execArgv: ['--experimental-vm-modules', '--no-warnings'],
  });
  t.after(() => worker.terminate());
  return worker;
}

/** The worker's answer to a ticket of the module. */
function run(worker, code, more = {}) {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    const source = typeof code === 'string' ? new TextEncoder().encode(code) : code;
    worker.postMessage({ module: 'm', code: source, input: new Uint8Array(1), blobs: [], memory, ...more });
  });
}

// Grows its memory by 16 pages until that fails, and returns the number of pages. `limits` are those of its memory.
const growing = (limits) =>
  Buffer.concat([
    Buffer.from('AGFzbQEAAAABDgJgAX8Bf2AEf39/fwF/AwMCAAE=', 'base64'),
    Buffer.from([5, 1 + limits.length, 1, ...limits]),
    Buffer.from(
      'ByEDBm1lbW9yeQIACGFsbG9jYXRlAAAJY2FsY3VsYXRlAAEKIQIFAEGQCAsZAANAQRBAAEF/Rw0AC0GECD8ANgIAQYAICwsIAQBBgAgLAQQ=',
      'base64',
    ),
  ]);
const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

test('WebAssembly grows to its maximum, which is within the memory of the ticket', async (t) => {
  const { result, spent } = await run(startWorker(t), growing([1, 2, 0x80, 2])); // 256 pages
  assert.equal(new DataView(result.buffer).getUint32(0, true), 242);
  assert.equal(spent, true, 'the worker is not used again');
});

for (const [what, code, error] of [
  ['memory has no maximum', growing([0, 2]), /whose memory has a maximum; link it with -Wl,--max-memory=BYTES/],
  ['maximum is too large', growing([1, 2, 0x81, 2]), /at most 16777216 bytes \(memory_bytes of the task\), got 168427/],
  ['table has no maximum', Buffer.from([...header, 4, 4, 1, 0x70, 0, 1]), /whose table has a maximum/],
  ['table is too large', Buffer.from([...header, 4, 7, 1, 0x70, 1, 1, 0x81, 0x80, 0x40]), /, got 16777232/],
])
  test(`refuses WebAssembly whose ${what}`, async (t) => {
    assert.match((await run(startWorker(t), code)).error, error);
  });

test('refuses WebAssembly with objects that have no maximum', () => {
  const array = Buffer.from([...header, 1, 4, 1, 0x5e, 0x78, 1]); // Node 20 compiles no such type
  assert.throws(() => checkMemory(array, memory), /types of functions only/);
  const reference = Buffer.from([...header, 1, 6, 1, 0x60, 1, 0x64, 0x6b, 0]);
  assert.throws(() => checkMemory(reference, memory), /without typed references/);
});

// The body of a loop without end. `all` keeps the objects that it makes.
const endless = {
  'typed arrays': 'all.push(new Uint8Array(1 << 20))',
  'array buffers': 'all.push(new ArrayBuffer(1 << 20))',
  'one large array': 'all.push(new Float64Array(2 ** 31))',
  'buffers that may grow': 'all.push(new ArrayBuffer(0, {maxByteLength: 1 << 20}))',
  'lengths that change':
    'let n = 0; all.push(new Uint8Array({valueOf: () => n++ ? 2 ** 30 : 1}), new Uint8Array(1 << 16))',
  'objects with a length': 'all.push(new Uint8Array({length: 2 ** 32}))',
  lists: 'all.push(new Float64Array([...Array(1000).keys()]))',
  'Uint8Array.from': 'all.push(Uint8Array.from({length: 1 << 20}))',
  subclasses: 'class Mine extends Uint8Array {}; all.push(new Mine(1 << 20))',
  'Reflect.construct': 'all.push(Reflect.construct(Uint8Array, [1 << 20], Object))',
  'the constructor of an array': 'all.push(new input.constructor(1 << 20))',
  'copies of arrays': 'all.push(new Uint8Array(input))',
  slices: 'all.push(input.slice())',
  'slices without a constructor': "Object.defineProperty(input, 'constructor', {}); all.push(input.slice())",
  'slices of buffers': 'all.push(input.buffer.slice(0))',
  'slices of buffers without a constructor':
    "Object.defineProperty(input.buffer, 'constructor', {}); all.push(input.buffer.slice(0))",
  maps: "Object.defineProperty(input, 'constructor', {}); all.push(input.map((x) => x))",
  filters: "Object.defineProperty(input, 'constructor', {}); all.push(input.filter(() => true))",
  'sorted copies': 'all.push(input.toSorted(), input.toReversed(), input.with(0, 1))',
  transfers: 'all.push(new ArrayBuffer(8).transfer?.(1 << 20) ?? new ArrayBuffer(1 << 20))',
  'errors that are caught': 'try { all.push(new Uint8Array(1 << 20)); } catch {}',
};
const polluted = `Object.defineProperty(ArrayBuffer.prototype, 'byteLength', {get: () => 0});
  for (const name of ['get', 'apply', 'construct', 'value', 'set'])
    Object.prototype[name] = (...list) => { for (const one of list) if (one?.BYTES_PER_ELEMENT) all.push(one); };
  Array.prototype[Symbol.iterator] = function* () { yield 1; };
  Reflect.construct = Reflect.apply = () => {};
  WeakSet.prototype.has = () => true;
  Math.trunc = Number = () => 0;`;

for (const [what, body] of Object.entries({ ...endless, 'changed functions': endless['typed arrays'] }))
  test(`stops ${what}`, { timeout: 60000 }, async (t) => {
    const worker = startWorker(t);
    const code = `const all = [];
      ${what === 'changed functions' ? polluted : ''}
      export function calculate(given) {
        const input = given.length < 65536 ? new Uint8Array(65536) : given;
        for (;;) { ${body}; }
      }`;
    const begun = process.memoryUsage.rss();
    const answer = await run(worker, code);
    assert.match(answer.error, /^the ticket's buffers have more than 16777216 bytes \(memory_bytes of the task\)/);
    assert.equal(answer.spent, true);
    assert.ok(process.memoryUsage.rss() - begun < 256 * MiB);
  });

for (const name of ['WebAssembly', 'SharedArrayBuffer'])
  test(`JavaScript of a task has no ${name}`, async (t) => {
    const { result } = await run(startWorker(t), `export const calculate = () => typeof ${name};`);
    assert.equal(new TextDecoder().decode(result), 'undefined');
  });

const honest = `
  class Mine extends Float32Array { get sum() { return this.reduce((a, b) => a + b, 0); } }
  const show = (value) => \`\${value.constructor.name} \${[...value]}\`;
  const thrown = (call) => { try { call(); return 'nothing'; } catch (error) { return error.name; } };
  const buffer = new ArrayBuffer(8);
  const out = [
    show(new Uint8Array()), show(new Uint8Array(3)), show(new Uint8Array('2')), show(new Uint8Array(null)),
    show(new Uint8Array(2.9)), show(new Uint8Array([1, 2, 300])), show(new Uint8Array(new Set([4, 5]))),
    show(new Int16Array({length: 2, 0: 7, 1: 8})), show(new Float64Array(new Uint8Array([1, 2]))),
    show(new Uint8Array(buffer, 2, 3)), show(new Uint8Array(buffer)), show(new BigInt64Array([1n, 2n])),
    show(Uint8Array.from([1, 2], (x) => 2 * x)), show(Uint8Array.of(1, 2)), show(new Mine([1, 2]).map((x) => x + 1)),
    new Mine([1, 2, 3]).sum, show(new Uint8Array([3, 1, 2]).slice(1)), show(new Uint8Array([3, 1, 2]).subarray(1)),
    show(new Uint8Array([3, 1, 2]).filter((x) => x > 1)), buffer.slice(2).byteLength,
    ArrayBuffer.isView(new Uint8Array(1)),
    new Uint8Array(1) instanceof Uint8Array, new Uint8Array(1).constructor === Uint8Array, Uint8Array.name,
    Uint8Array.BYTES_PER_ELEMENT, Object.prototype.toString.call(buffer), buffer.constructor === ArrayBuffer,
    thrown(() => Uint8Array(1)), thrown(() => new Uint8Array(-1)), thrown(() => new Uint8Array(Symbol())),
    thrown(() => new BigInt64Array([1])), thrown(() => new Uint16Array(buffer, 1)), thrown(() => ArrayBuffer(1)),
  ].join('; ');`;

test('other modules compute what they compute without a limit', async (t) => {
  const answer = await run(startWorker(t), `${honest} export const calculate = () => out;`);
  assert.equal(new TextDecoder().decode(answer.result), new Function(`${honest} return out;`)());
  assert.equal(answer.spent, false);
});

test('each ticket has its own memory, and a worker that keeps a part of it is not used again', async (t) => {
  const worker = startWorker(t);
  const code = 'export const calculate = ([size]) => (new Uint8Array(size << 20), String(size));';
  const sizes = [1, 1, 1, 1, 15, 17];
  const answers = [];
  for (const size of sizes) answers.push(await run(worker, code, { input: Uint8Array.of(size) }));
  assert.deepEqual(
    answers.map(({ spent, error }) => spent && (error ? 'error' : 'spent')),
    [false, false, false, false, 'spent', 'error'],
  );
});

test('a runner ends a worker that is spent', async () => {
  const made = [];
  const runner = new Runner(() => {
    made.push({ ended: false, post() {}, end: () => (made.at(-1).ended = true) });
    return made.at(-1);
  }, 60);
  const answers = [{ result: 1 }, { result: 1, spent: true }, { result: 1 }, { error: 'too much', spent: true }];
  for (const answer of answers) {
    const done = runner.run({ module: 'm', memory }).catch(({ message }) => message);
    made.at(-1).onMessage(answer);
    assert.equal(await done, answer.error ?? 1);
  }
  assert.deepEqual([made.length, made[0].ended, made[1].ended], [2, true, true]);
  for (const other of [memory, 2 * memory]) {
    const done = runner.run({ module: 'm', memory: other });
    made.at(-1).onMessage({ result: 1 });
    await done;
  }
  assert.equal(made.length, 4, 'another memory needs another worker');
  runner.stop();
});

test('a node runs only tickets that fit into its memory', async () => {
  const sent = [];
  const socket = { readyState: 1, send: (message) => sent.push(decodeFrame(message)), close() {} };
  const begun = [];
  const node = new PoolNode({
    connect: () => socket,
    fetchBlob: async () => new Uint8Array(),
    runners: [1, 2, 3].map(() => ({ run: (job) => new Promise((end) => begun.push({ job, end })), stop() {} })),
    info: { memory_bytes: 64 * MiB },
  });
  const ended = node.start();
  socket.onopen();
  assert.equal(sent[0].control.memory_bytes, 64 * MiB);
  const say = (type, control, ticket = 0) => socket.onmessage({ data: encodeFrame({ type, ticket, control }).buffer });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  say('welcome', { node: 'n', key: 'k' });
  say('ticket', { token: 't', module: 'm', memory_bytes: 16 * MiB + 1 }, 1);
  assert.match(sent.at(-1).control.error, /expected a ticket with at most 16777216 bytes \(memory_bytes\), got/);
  say('ticket', { token: 't', module: 'm' }, 2);
  assert.match(sent.at(-1).control.error, /got 268435456/, 'a ticket needs 256 MiB if it says nothing');
  for (const ticket of [3, 4, 5]) say('ticket', { token: 't', module: 'm', memory_bytes: 16 * MiB }, ticket);
  await settled();
  assert.equal(begun.length, 2, 'half of the memory');
  assert.equal(begun[0].job.memory, 16 * MiB);
  begun[0].end(new Uint8Array(1));
  await settled();
  assert.equal(begun.length, 3);
  node.stop(0);
  await ended;
});
