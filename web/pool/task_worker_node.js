// SPDX-License-Identifier: MIT
// Runs one task's module in a worker thread of Node. The context has JavaScript's globals but none of Node's. The
// module cannot import, and cannot make code from strings.

import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import { parentPort } from 'node:worker_threads';
import { taskLoop } from './task_loop.js';

const limitSource = readFileSync(new URL('./memory_limit.js', import.meta.url), 'utf8');
const post = (message) => parentPort.postMessage(message);

/** Runs memory_limit.js in the context: its objects must not be of Node's realm. */
async function limitContext(context, most) {
  const module = new vm.SourceTextModule(limitSource, { context });
  await module.link(() => {});
  await module.evaluate();
  const limit = module.namespace.limitBuffers((text) => post({ error: text, spent: true }));
  limit.begin(most);
  return limit;
}

/**
 * Prepares a context before the task's code runs in it. Returns a function that calls the task's function with copies
 * that the context made. An object of this realm would give the task access to Node. Examples are a list of blobs and a
 * promise's resolver.
 */
function makeCall(context) {
  const Bytes = vm.runInContext('Uint8Array', context);
  const call = vm.runInContext('async (calculate, input, ...blobs) => calculate(input, blobs)', context);
  const own = (bytes) => {
    const copy = new Bytes(bytes.length);
    Uint8Array.prototype.set.call(copy, bytes);
    return copy;
  };
  return (calculate, input, blobs) => call(calculate, own(input), ...blobs.map(own));
}

async function loadScript(code, most, module) {
  const context = vm.createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } });
  const call = makeCall(context);
  const limit = await limitContext(context, most);
  const task = new vm.SourceTextModule(Buffer.from(code).toString(), { identifier: module, context });
  await task.link(() => {
    throw new Error('expected a module without imports');
  });
  await task.evaluate();
  const { calculate } = task.namespace;
  if (typeof calculate !== 'function') throw new Error('expected a module that exports calculate()');
  return { task: (input, blobs) => call(calculate, input, blobs), limit };
}

const compute = taskLoop(loadScript, post);
parentPort.on('message', compute);
