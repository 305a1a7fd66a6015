// SPDX-License-Identifier: MIT
// The package's entry. load() loads the library in a worker.
import { Connection } from './connection.js';
import { KaisekiError, expect } from './error.js';
import { Network, Optimizer, Remote, Tensor, forward, pack, unpack } from './remote.js';
import { retained } from './scope.js';
import { lendThreads } from './threads.js';
import { Training } from './training.js';
import { elements } from './values.js';

export { KaisekiError, Network, Optimizer, Tensor, lendThreads };

/** Makes an address absolute, because the worker would resolve it relative to its own script. */
function source(given) {
  if (typeof given !== 'string' && !(given instanceof URL)) return given;
  return new URL(given, globalThis.document?.baseURI ?? globalThis.location?.href).href;
}

/** The library, or a scope of tidy(). A scope records the objects that were made in it. */
class Kaiseki {
  constructor(connection, threads, depth = 0) {
    this.connection = connection;
    this.threads = threads;
    this.depth = depth;
    this.made = depth ? new Set() : undefined;
  }

  get kaiseki() {
    return this;
  }

  get closed() {
    return this.connection.closed;
  }

  /** Calls the worker's `method`. New objects belong to the innermost scope of this, the target and the arguments. */
  async request(target, method, args, options) {
    const objects = [this],
      packed = pack(args, objects);
    if (target instanceof Remote) objects.push(target);
    const sameLibrary = objects.every(({ kaiseki }) => kaiseki.connection === this.connection);
    expect(sameLibrary, method, 'objects of this library', 'an object of another');
    const { kaiseki } = objects.reduce((inner, object) =>
      object.kaiseki.depth > inner.kaiseki.depth ? object : inner,
    );
    const message = { target: target instanceof Remote ? target.id : 0, method, args: packed };
    return unpack(await this.connection.request(message, { ...options, objects }), kaiseki);
  }

  async tensor(values, shape, dtype, { transfer = false } = {}) {
    const array = elements(values, dtype);
    const moves = (transfer || array !== values) && array.byteLength === array.buffer.byteLength;
    return this.request(null, 'tensor', [array, shape, dtype], { transfer: moves ? [array.buffer] : [] });
  }

  async network(source) {
    return this.request(null, 'network', [
      ArrayBuffer.isView(source) || typeof source === 'string' ? source : JSON.stringify(source),
    ]);
  }

  train(network, optimizer, data, options = {}) {
    return new Training(this, network, optimizer, data, options);
  }

  async mnist({ images, labels }, options) {
    return this.#fetch('mnist', [source(images), source(labels)], options);
  }

  async cifar10(files, options) {
    return this.#fetch('cifar10', [files.map(source)], options);
  }

  async picture(file, options) {
    return this.#fetch('picture', [source(file)], options);
  }

  #fetch(method, args, { signal, onProgress, ...options } = {}) {
    return this.request(null, method, [...args, options], { signal, onEvent: onProgress });
  }

  async tidy(body) {
    const scope = new Kaiseki(this.connection, this.threads, this.depth + 1);
    let result;
    try {
      result = await body(scope);
    } finally {
      const kept = retained(result, Remote);
      scope.ended = true;
      for (const object of [...scope.made]) {
        if (kept.has(object)) object.moveTo(this);
        else object.dispose();
      }
    }
    return result;
  }

  close() {
    this.connection.close();
  }
}
forward(Kaiseki, [
  'empty',
  'uniform',
  'normal',
  'elementwise',
  'concatenate',
  'conv2d',
  'maxPool2d',
  'averagePool2d',
  'optimizer',
  'digits',
  'normalize',
  'memory',
  'trim',
]);

export async function load(options = {}) {
  const connection = await Connection.open();
  try {
    return new Kaiseki(connection, await connection.load(options));
  } catch (error) {
    connection.close();
    throw error;
  }
}
