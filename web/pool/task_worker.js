// SPDX-License-Identifier: MIT
// Runs one task's module in a worker of a page, with JavaScript's globals but none of the browser's. Its memory has a
// limit. The server has a policy for task.html, the frame of this worker. It allows no network and no code from
// strings. It allows only scripts that the worker makes itself.

import { limitBuffers } from './memory_limit.js';
import { taskLoop } from './task_loop.js';

const language = new Set([
  'AggregateError',
  'Array',
  'ArrayBuffer',
  'Atomics',
  'BigInt',
  'BigInt64Array',
  'BigUint64Array',
  'Boolean',
  'DataView',
  'Date',
  'Error',
  'EvalError',
  'FinalizationRegistry',
  'Float32Array',
  'Float64Array',
  'Function',
  'Infinity',
  'Int16Array',
  'Int32Array',
  'Int8Array',
  'Intl',
  'JSON',
  'Map',
  'Math',
  'NaN',
  'Number',
  'Object',
  'Promise',
  'Proxy',
  'RangeError',
  'ReferenceError',
  'Reflect',
  'RegExp',
  'Set',
  'String',
  'Symbol',
  'SyntaxError',
  'TypeError',
  'URIError',
  'Uint16Array',
  'Uint32Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'WeakMap',
  'WeakRef',
  'WeakSet',
  'WebAssembly',
  'constructor',
  'decodeURI',
  'decodeURIComponent',
  'encodeURI',
  'encodeURIComponent',
  'escape',
  'eval',
  'globalThis',
  'isFinite',
  'isNaN',
  'parseFloat',
  'parseInt',
  'undefined',
  'unescape',
]);

/**
 * Deletes all globals that are not JavaScript's: storage, network, workers and everything that pages share. A few
 * cannot be deleted.
 */
function removeBrowserGlobals() {
  for (let at = globalThis; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) if (!language.has(name)) Reflect.deleteProperty(at, name);
}

const { Blob, URL } = globalThis;

async function loadScript(code, most) {
  const limit = limitBuffers((text) => post({ error: text, spent: true }));
  limit.begin(most);
  const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  const { calculate } = await import(/* @vite-ignore */ address).finally(() => URL.revokeObjectURL(address));
  if (typeof calculate !== 'function') throw new Error('expected a module that exports calculate()');
  return { task: calculate, limit };
}

const post = postMessage.bind(globalThis);
const compute = taskLoop(loadScript, post);
addEventListener('message', ({ data }) => compute(data));
removeBrowserGlobals();
