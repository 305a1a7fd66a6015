// SPDX-License-Identifier: MIT
// Computes ticket after ticket of one module, in a page's worker and in Node's.
import { isWasm, loadWasm } from './wasm_task.js';

const spentPart = 8; // a worker whose task took more than this part of its memory is not used again
const encoder = new TextEncoder();

/** Returns a copy of the bytes. */
function resultBytes(value) {
  if (typeof value === 'string') return encoder.encode(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
  throw new Error('expected calculate() to return a string or bytes');
}

/**
 * Returns a function that computes a job and posts the answer. loadScript(code, memory, module) gives a promise of the
 * task's function and of the limit of its buffers.
 */
export function taskLoop(loadScript, post) {
  let task, limit;
  return async ({ module, code, input, blobs, memory = Infinity }) => {
    try {
      if (!task && isWasm(code)) task = await loadWasm(code, memory);
      else if (!task) ({ task, limit } = await loadScript(code, memory, module));
      const result = resultBytes(await task(input, blobs));
      post({ result, spent: (limit?.used() ?? task.used) > memory / spentPart });
      limit?.begin(memory);
    } catch (error) {
      post({ error: String(error?.message ?? error) });
    }
  };
}
