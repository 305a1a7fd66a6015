// SPDX-License-Identifier: MIT
// Loads the module's variant for this page, worker or process: with threads or without them.
import { builtin, cores, node } from './environment.js';
import { KaisekiError, expect } from './error.js';
import { Module } from './module.js';
import { BorrowedThread } from './threads.js';

// Bundlers copy these files unchanged. A thread's script loads the module's script again.
const FILES = {
  one: {
    script: new URL('../dist/kaiseki.mjs', import.meta.url),
    code: new URL('../dist/kaiseki.wasm', import.meta.url),
  },
  several: {
    script: new URL('../dist/kaiseki-threads.mjs', import.meta.url),
    code: new URL('../dist/kaiseki-threads.wasm', import.meta.url),
    thread: new URL('../dist/kaiseki-threads.worker.js?no-inline', import.meta.url),
  },
};

/** Modules whose threads are loading. Nothing else refers to them, so Firefox would collect them. */
const starting = new Set();

async function makeThread(script, lent) {
  if (lent) return new BorrowedThread(lent, script.href);
  // Without this process's flags: --input-type does not apply to files.
  if (node) return new (await builtin('worker_threads')).Worker(script, { execArgv: [] });
  // An ES module, because Vite's development server adds imports to scripts.
  return new Worker(script, { type: 'module' });
}

/** Adds a thread to Emscripten's list of unused threads. */
async function addThread(module, script, lent) {
  const thread = await makeThread(script, lent),
    pool = module.functions.PThread;
  pool.unusedWorkers.push(thread);
  await new Promise((resolve, reject) => {
    pool.loadWasmModuleToWorker(thread, resolve);
    thread.onerror = () => reject(new KaisekiError('Error', `[load] cannot load a thread's script ${script}`));
  });
  thread.onerror = (event) => {
    event.preventDefault?.(); // the next call throws Closed
    module.functions._kaiseki_thread_fails();
  };
  thread.unref?.();
}

export async function loadVariant({ threads, lent, stoppable = false, onProgress } = {}) {
  const shared = node || Boolean(globalThis.crossOriginIsolated);
  threads ??= shared ? await cores() : 1;
  expect(Number.isInteger(threads) && threads >= 1 && threads <= 1024, 'load', '1 to 1024 threads', threads);
  const several = shared && (threads > 1 || stoppable);
  const files = several ? FILES.several : FILES.one;
  const module = await Module.open(files, { shared: several, onProgress });
  if (several) module.stopFlag = module.array(Int32Array, module.functions._kaiseki_stop_flag(), 1);
  starting.add(module);
  try {
    if (several) await Promise.all(Array.from({ length: threads - 1 }, () => addThread(module, files.thread, lent)));
    module.threads = module.call('kaiseki_start', several ? threads : 1);
  } catch (error) {
    module.close();
    throw error;
  } finally {
    starting.delete(module);
  }
  return module;
}
