// SPDX-License-Identifier: MIT
// Loads the variant of the module that this page, worker or process may use, and calls its functions.
import { builtin, cores, node } from './environment.js';
import { KaisekiError, expect } from './error.js';
import { BorrowedThread } from './threads.js';
import { whole } from './values.js';

const MOST = 65536, LEAST = 4096;  // pages of 64 kB: 4 GB, and 256 MB

// Files, which bundlers copy as they are: the script of a thread loads the second again.
const FILES = {
  one: { script: new URL('../dist/kaiseki.mjs', import.meta.url), code: new URL('../dist/kaiseki.wasm', import.meta.url) },
  several: {
    script: new URL('../dist/kaiseki-threads.mjs', import.meta.url),
    code: new URL('../dist/kaiseki-threads.wasm', import.meta.url),
    thread: new URL('../dist/kaiseki-threads.worker.js?no-inline', import.meta.url),
  },
};

async function compile(url) {
  try {
    if (!node) return await WebAssembly.compileStreaming(fetch(url));
    return await WebAssembly.compile(await (await builtin('fs/promises')).readFile(url));
  } catch (error) {
    throw new KaisekiError(error instanceof RangeError ? 'OutOfMemory' : 'Error', `[load] expected the module at ${url}, got an error: ${error.message}`);
  }
}

/** Memory that may grow to 4 GB, or to the half, the quarter... where so much cannot be reserved, as on telephones. */
function makeMemory(shared) {
  for (let maximum = MOST;; maximum /= 2)
    try {
      return new WebAssembly.Memory({ initial: 256, maximum, shared });
    } catch ({ message }) {
      if (maximum <= LEAST) throw new KaisekiError('OutOfMemory', `[load] expected memory that may grow to 256 MB, got none: ${message}`);
    }
}

/** Modules whose threads load: nothing else refers to them, and Firefox would collect them. */
const starting = new Set();

async function makeThread(script, lent) {
  if (node) return new (await builtin('worker_threads')).Worker(script);
  if (lent) return new BorrowedThread(lent, script.href);
  // A module: Vite adds imports to scripts while it serves them.
  return new Worker(script, { type: 'module' });
}

/** Adds a thread to those that wait for work. */
async function addThread(pool, script, lent) {
  const thread = await makeThread(script, lent);
  let onerror;
  pool.unusedWorkers.push(thread);
  await new Promise((resolve, reject) => {
    pool.loadWasmModuleToWorker(thread, resolve);
    onerror = thread.onerror;
    thread.onerror = () => reject(new KaisekiError('Error', `[load] expected the script of a thread at ${script}, got an error`));
  });
  thread.onerror = onerror;
  if (node) thread.unref();
}

/** The module: memory, functions by name, and texts and numbers on their way to it. */
export class Module {
  static async load({ threads, lent } = {}) {
    const shared = node || Boolean(globalThis.crossOriginIsolated);
    threads ??= shared ? await cores() : 1;
    expect(Number.isInteger(threads) && threads >= 1 && threads <= 1024, 'load', '1 to 1024 threads', threads);
    const several = shared && threads > 1;
    const files = several ? FILES.several : FILES.one;
    const [factory, compiled] = await Promise.all([
      import(/* @vite-ignore */ /* webpackIgnore: true */ files.script.href), compile(files.code)]);
    const module = new Module();
    module.memory = makeMemory(several);
    module.functions = await new Promise((resolve, reject) => {
      factory.default({
        wasmMemory: module.memory,
        mainScriptUrlOrBlob: files.script.href,
        instantiateWasm(imports, receive) {
          WebAssembly.instantiate(compiled, imports).then((instance) => receive(instance, compiled), reject);
          return {};
        },
      }).then(resolve, reject);
    });
    const pool = module.functions.PThread;
    starting.add(module);
    try {
      if (several) await Promise.all(Array.from({ length: threads - 1 }, () => addThread(pool, files.thread, lent)));
      module.threads = module.call('kaiseki_start', several ? threads : 1);
    } catch (error) {
      module.close();
      throw error;
    } finally {
      starting.delete(module);
    }
    return module;
  }

  /** Calls an exported function; throws what it threw. */
  call(name, ...args) {
    const result = this.functions['_' + name](...args);
    const failure = this.functions._kaiseki_failure();
    if (failure) throw new KaisekiError(...split(this.text(failure)));
    return result;
  }

  /** Calls `body` with memory that is freed at the end; `reserve(bytes)` gives an address. */
  scratch(body) {
    const blocks = [];
    const reserve = (bytes) => {
      const block = this.functions._malloc(Math.max(1, bytes)) >>> 0;
      if (!block) throw new KaisekiError('OutOfMemory', `[memory] expected room for ${bytes} bytes, got none`);
      blocks.push(block);
      return block;
    };
    try {
      return body(reserve);
    } finally {
      for (const block of blocks) this.functions._free(block);
    }
  }

  array(Type, address, length) {
    return new Type(this.memory.buffer, address >>> 0, length);
  }

  /** A copy of `values` in memory of `reserve`. */
  put(reserve, Type, values) {
    if (Type === Int32Array && !(values instanceof Int32Array)) Array.from(values).forEach(whole);
    const address = reserve(values.length * Type.BYTES_PER_ELEMENT);
    this.array(Type, address, values.length).set(values);
    return address;
  }

  putText(reserve, text) {
    return this.put(reserve, Uint8Array, new TextEncoder().encode(text + '\0'));
  }

  text(address) {
    const bytes = new Uint8Array(this.memory.buffer, address >>> 0);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  /** The bytes that the last call gave. */
  bytes(address) {
    return this.array(Uint8Array, address, this.functions._kaiseki_result_size()).slice();
  }

  close() {
    this.functions.PThread?.terminateAllThreads();
  }
}

function split(text) {
  const line = text.indexOf('\n');
  return [text.slice(0, line), text.slice(line + 1)];
}
