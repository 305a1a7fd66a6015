// SPDX-License-Identifier: MIT
// The worker. It answers requests with kaiseki/sync, and keeps the objects that requests name by their numbers.
import { builtin, node } from './environment.js';
import { KaisekiError, expect } from './error.js';
import { FILE_LIMIT, SMALL_FILE, readSources } from './sources.js';
import { Network, Optimizer, Tensor, load } from './sync.js';
import { train } from './trainer.js';
import { turn } from './turn.js';

let library,
  port,
  lastId = 0;
const objects = new Map();
const running = new Map();
/** Messages that arrived while a weights file is read. They take effect after it. */
let deferred;

/** The most unpacked bytes of a file. A picture has at most 2^26 pixels of 3 bytes, and all of CIFAR-10 has 176 MiB. */
const PICTURE_LIMIT = 2 ** 28,
  CIFAR_LIMIT = 2 ** 28;

/** A weights file has at most 16 bytes for a value, and with `strict` only the network's values. */
function weightsLimit(network, { strict = true } = {}) {
  if (!strict) return FILE_LIMIT;
  return SMALL_FILE + 16 * network.summary.layers.reduce((sum, { parameters }) => sum + parameters, 0);
}

/** Requests that are not just a method of an object: (context of the request, object, arguments). */
const requests = {
  async load({ event }, _, options) {
    library = await load({ ...options, onProgress: event });
    return library.threads;
  },
  idle() {},
  async train({ id, signal, event }, _, network, optimizer, data, settings) {
    running.get(id).settings = settings;
    return train(library, network, optimizer, data, settings, signal, event);
  },
  set(_, tensor, values) {
    tensor.set(values);
  },
  parameters: (_, network) => network.parameters,
  async evaluate({ signal }, network, data, options) {
    const run = network.evaluateBatches(data, options);
    for (;;) {
      const { done, value } = run.next();
      if (done) return value;
      await turn();
      signal.throwIfAborted();
    }
  },
  async loadWeights({ signal, event }, network, file, options) {
    const [bytes] = await readSources([file], weightsLimit(network, options), signal, event);
    return network.loadWeights(bytes, options);
  },
  async mnist({ signal, event }, _, images, labels) {
    return library.mnist(...(await readSources([images, labels], FILE_LIMIT, signal, event)));
  },
  async cifar10({ signal, event }, _, files) {
    const parts = await readSources(files, CIFAR_LIMIT, signal, event);
    return library.cifar10(parts.length === 1 ? parts[0] : new Uint8Array(await new Blob(parts).arrayBuffer()));
  },
  async picture({ signal, event }, _, file, options) {
    const [bytes] = await readSources([file], PICTURE_LIMIT, signal, event);
    return library.picture(bytes, options);
  },
};

function find(id) {
  const object = objects.get(id);
  expect(object, 'worker', 'a live object', 'a disposed one');
  return object;
}

function unpack(value) {
  if (value?.$object) return find(value.$object);
  if (Array.isArray(value)) return value.map(unpack);
  if (Object.getPrototypeOf(value ?? 0) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpack(item)]));
}

function register(object, $type, facts) {
  objects.set(++lastId, object);
  return { $type, id: lastId, ...facts };
}

function pack(value, transfer) {
  if (value instanceof Tensor) return register(value, 'Tensor', { dtype: value.dtype, shape: [...value.shape] });
  if (value instanceof Optimizer) return register(value, 'Optimizer', { learningRate: value.learningRate });
  if (value instanceof Network) return register(value, 'Network', { json: value.json, ...value.summary });
  if (ArrayBuffer.isView(value)) {
    transfer.push(value.buffer);
    return value;
  }
  if (Array.isArray(value)) return value.map((item) => pack(item, transfer));
  if (Object.getPrototypeOf(value ?? 0) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, pack(item, transfer)]));
}

function failure(error, signal) {
  if (signal.aborted) return { kind: 'Aborted', message: '' };
  if (error instanceof KaisekiError) return { kind: error.kind, message: error.message };
  const memory = error instanceof RangeError; // JavaScript could not allocate a buffer
  return {
    kind: memory ? 'OutOfMemory' : 'Error',
    message: memory ? `[memory] out of memory: ${error.message}` : String(error.message ?? error),
  };
}

/** Returns whether the module's memory may be corrupt after the error. */
function isFatal(error) {
  return (
    error instanceof WebAssembly.RuntimeError ||
    (!(error instanceof KaisekiError) && /call stack|recursion/.test(error?.message))
  );
}

async function answer({ id, target, method, args }) {
  const controller = new AbortController(),
    { signal } = controller;
  running.set(id, { controller });
  const transfer = [];
  try {
    const object = target ? find(target) : library,
      given = args.map(unpack);
    const context = { id, signal, event: (event) => port.postMessage({ id, event }) };
    const value = method in requests ? requests[method](context, object, ...given) : object[method](...given);
    const result = pack(value instanceof Promise ? await value : value, transfer);
    port.postMessage({ id, value: result }, transfer);
  } catch (error) {
    if (error?.kind === 'Closed') return; // a thread has failed: its maker learns the reason and ends this worker
    port.postMessage(isFatal(error) ? { fatal: error.message } : { id, error: failure(error, signal) });
  } finally {
    running.delete(id);
  }
}

/** Reading the file takes several turns of the event loop. Later messages wait for it. */
async function answerExclusively(message) {
  deferred = [];
  await answer(message);
  const waiting = deferred;
  deferred = undefined;
  for (const next of waiting) receive(next);
}

function receive(message) {
  if (deferred && !running.has(message.abort ?? message.change)) {
    deferred.push(message);
  } else if (message.dispose) {
    objects.get(message.dispose)?.dispose();
    objects.delete(message.dispose);
  } else if (message.abort) {
    const run = running.get(message.abort);
    run?.controller.abort();
    run?.settings?.wake?.();
  } else if (message.change) {
    const settings = running.get(message.change)?.settings;
    if (settings) Object.assign(settings, message.settings).wake?.();
  } else if (message.method === 'loadWeights') {
    answerExclusively(message);
  } else {
    answer(message);
  }
}

if (node) {
  builtin('worker_threads').then(({ parentPort }) => {
    port = parentPort;
    port.on('message', receive);
  });
} else {
  port = self;
  self.onmessage = ({ data }) => receive(data);
}
