// SPDX-License-Identifier: MIT
// A WebAssembly module of the package: loads it, calls its functions, and converts texts and numbers.
import { builtin, node } from './environment.js';
import { KaisekiError } from './error.js';
import { checkInt32 } from './values.js';

const MAXIMUM_PAGES = 65536,
  MINIMUM_PAGES = 4096; // in pages of 64 kB: 4 GB and 256 MB

/** Calls onProgress() with the bytes received so far. */
async function watch(body, onProgress) {
  let loaded = 0;
  for (const reader = body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return;
    onProgress({ loaded: (loaded += value.length) });
  }
}

async function compile(url, onProgress) {
  try {
    if (!node) {
      const response = await fetch(url);
      if (onProgress) watch(response.clone().body, onProgress).catch(() => {}); // the other copy reports the error
      return await WebAssembly.compileStreaming(response);
    }
    return await WebAssembly.compile(await (await builtin('fs/promises')).readFile(url));
  } catch (error) {
    throw new KaisekiError(
      error instanceof RangeError ? 'OutOfMemory' : 'Error',
      `[load] cannot load the module ${url}: ${error.message}`,
    );
  }
}

/**
 * Makes memory that may grow to 4 GB. If the browser cannot reserve that, as on phones, it halves the limit and tries
 * again, down to 256 MB.
 */
function makeMemory(shared) {
  for (let maximum = MAXIMUM_PAGES; ; maximum /= 2)
    try {
      return new WebAssembly.Memory({ initial: 256, maximum, shared });
    } catch ({ message }) {
      if (maximum <= MINIMUM_PAGES)
        throw new KaisekiError('OutOfMemory', `[load] cannot reserve memory that may grow to 256 MB: ${message}`);
    }
}

/** The module: its memory, its functions by name, and conversion of texts and numbers. */
export class Module {
  /** Loads the files `script` and `code`. Shared memory is for a module with threads. */
  static async open({ script, code }, { shared = false, onProgress } = {}) {
    const [factory, compiled] = await Promise.all([
      import(/* @vite-ignore */ /* webpackIgnore: true */ script.href),
      compile(code, onProgress),
    ]);
    const module = new this();
    module.memory = makeMemory(shared);
    module.functions = await new Promise((resolve, reject) => {
      factory
        .default({
          wasmMemory: module.memory,
          mainScriptUrlOrBlob: script.href,
          instantiateWasm(imports, receive) {
            WebAssembly.instantiate(compiled, imports).then((instance) => receive(instance, compiled), reject);
            return {};
          },
        })
        .then(resolve, reject);
    });
    return module;
  }

  /** Calls an exported function. Throws the exception that it stored. */
  call(name, ...args) {
    this.throwIfStopped();
    let result;
    try {
      result = this.functions['_' + name](...args);
    } catch (error) {
      this.throwIfStopped();
      throw error;
    }
    const failure = this.functions._kaiseki_failure();
    if (failure) {
      this.throwIfStopped();
      throw new KaisekiError(...split(this.text(failure)));
    }
    return result;
  }

  /** Whether a thread has failed, or another thread has set the flag. The memory may then be corrupt. */
  get stopped() {
    return this.stopFlag !== undefined && Atomics.load(this.stopFlag, 0) !== 0;
  }

  throwIfStopped() {
    if (!this.stopped) return;
    // Ends the threads. A browser ends a sleeping thread only after two seconds.
    if (Atomics.compareExchange(this.stopFlag, 0, 1, 2) === 1) this.functions._kaiseki_start(1);
    throw new KaisekiError('Closed', '[threads] a thread has failed, or the library was stopped: call load() again');
  }

  /** Frees an object. After a stop the memory stays as it is. */
  release(name, address) {
    if (!this.stopped) this.call(name, address);
  }

  /** Calls `body` and frees its memory afterwards. `reserve(bytes)` returns an address. */
  scratch(body) {
    this.throwIfStopped(); // a thread that failed may hold the allocator's lock
    const blocks = [];
    const reserve = (bytes) => {
      const block = this.functions._malloc(Math.max(1, bytes)) >>> 0;
      if (!block) throw new KaisekiError('OutOfMemory', `[memory] out of memory: cannot allocate ${bytes} bytes`);
      blocks.push(block);
      return block;
    };
    try {
      return body(reserve);
    } finally {
      if (!this.stopped) for (const block of blocks) this.functions._free(block);
    }
  }

  array(Type, address, length) {
    return new Type(this.memory.buffer, address >>> 0, length);
  }

  /** Copies `values` to memory of `reserve`. */
  put(reserve, Type, values) {
    if (Type === Int32Array && !(values instanceof Int32Array)) Array.from(values).forEach(checkInt32);
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

  /** Copies the bytes that the last call returned. */
  bytes(address) {
    return this.array(Uint8Array, address, this.functions._kaiseki_result_size()).slice();
  }

  /** The bytes of tensors and of the allocator, and the number of objects that JavaScript holds. */
  account() {
    return this.scratch((reserve) => {
      const account = reserve(24);
      this.call('kaiseki_memory', account);
      const [inUse, cached, peak] = this.array(Float64Array, account, 3);
      const heap = this.memory.buffer.byteLength;
      return { handles: this.call('kaiseki_live_handles'), inUse, cached, peak, heap };
    });
  }

  close() {
    this.functions.PThread?.terminateAllThreads();
  }
}

function split(text) {
  const line = text.indexOf('\n');
  return [text.slice(0, line), text.slice(line + 1)];
}
