// SPDX-License-Identifier: MIT
// Runs in a worker thread of Node: one task's module, in a context that has JavaScript itself and
// nothing of Node, may import nothing and make no code from strings.

import vm from 'node:vm';
import {parentPort} from 'node:worker_threads';
import {bytesOf} from './task_result.js';
import {isWasm, loadWasm} from './wasm_task.js';

let task; // the function of this worker's module

/**
 * Of a context, before others' code runs there: the call of its function, with copies of its own. Whatever of this realm it
 * saw, such as a list of blobs or what resolves a promise, would lead it to all of Node.
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

async function loadScript(module, code) {
  const context = vm.createContext(Object.create(null), {codeGeneration: {strings: false, wasm: true}});
  const call = makeCall(context);
  const task = new vm.SourceTextModule(Buffer.from(code).toString(), {identifier: module, context});
  await task.link(() => { throw new Error('expected a module without imports'); });
  await task.evaluate();
  const {calculate} = task.namespace;
  if (typeof calculate !== 'function') throw new Error('expected a module that exports calculate');
  return (input, blobs) => call(calculate, input, blobs);
}

parentPort.on('message', async ({module, code, input, blobs}) => {
  try {
    task ??= await (isWasm(code) ? loadWasm(code) : loadScript(module, code));
    parentPort.postMessage({result: bytesOf(await task(input, blobs))});
  } catch (error) {
    parentPort.postMessage({error: String(error?.message ?? error)});
  }
});
