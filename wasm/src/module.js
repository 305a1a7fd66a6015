// SPDX-License-Identifier: MIT
// Loads the variant of the module that this page, worker or process may use, and calls its functions.
import { KaisekiError } from './error.js';

const PAGE = 65536;
const node = Boolean(globalThis.process?.versions?.node);

async function cores() {
  if (!node) return navigator.hardwareConcurrency ?? 1;
  const name = 'node:os';
  return (await import(/* @vite-ignore */ name)).availableParallelism();
}

async function compile(url) {
  if (!node) return WebAssembly.compileStreaming(fetch(url));
  const name = 'node:fs/promises';
  return WebAssembly.compile(await (await import(/* @vite-ignore */ name)).readFile(url));
}

/** The module: memory, functions by name, and texts and numbers on their way to it. */
export class Module {
  static async load({ threads } = {}) {
    const shared = node || Boolean(globalThis.crossOriginIsolated);
    threads ??= shared ? await cores() : 1;
    if (!Number.isInteger(threads) || threads < 1)
      throw new KaisekiError('Error', `[load] expected 1 or more threads, got ${threads}`);
    const several = shared && threads > 1;
    const factory = several ? await import('../dist/kaiseki-threads.mjs') : await import('../dist/kaiseki.mjs');
    const code = several ? new URL('../dist/kaiseki-threads.wasm', import.meta.url)
                         : new URL('../dist/kaiseki.wasm', import.meta.url);
    const module = new Module();
    module.memory = new WebAssembly.Memory({ initial: 256, maximum: PAGE, shared: several });
    const compiled = await compile(code);
    module.functions = await factory.default({
      wasmMemory: module.memory,
      workers: several ? threads - 1 : 0,
      instantiateWasm(imports, receive) {
        WebAssembly.instantiate(compiled, imports).then((instance) => receive(instance, compiled));
        return {};
      },
    });
    const pool = module.functions.PThread;
    if (node && pool) for (const worker of [...pool.unusedWorkers, ...pool.runningWorkers]) worker.unref();
    module.threads = module.call('kaiseki_start', several ? threads : 1);
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
