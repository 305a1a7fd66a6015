// SPDX-License-Identifier: MIT
// Tensors, networks and optimizers in the worker: their numbers and their constant properties.
import { expect } from './error.js';

const registry = new FinalizationRegistry(({ connection, id }) => connection.post({ dispose: id }));

export class Remote {
  #id;
  constructor(kaiseki, id) {
    this.#id = id;
    registry.register(this, { connection: kaiseki.connection, id }, this);
    this.moveTo(kaiseki);
  }

  get id() {
    expect(this.#id, this.constructor.name, 'a live object', 'a disposed one');
    return this.#id;
  }

  get disposed() {
    return !this.#id;
  }

  dispose() {
    if (!this.#id) return;
    registry.unregister(this);
    this.kaiseki.connection.post({ dispose: this.#id });
    this.kaiseki.made?.delete(this);
    this.#id = 0;
  }

  /** Moves the object to another scope, or to the library itself. */
  moveTo(kaiseki) {
    Object.defineProperty(this, 'kaiseki', { value: kaiseki, configurable: true });
    kaiseki.made?.add(this);
    if (kaiseki.ended) this.dispose();
  }
}

/** Adds methods that run in the worker. */
export function forward(Type, names) {
  for (const name of names)
    Type.prototype[name] = function (...args) {
      return this.kaiseki.request(this, name, args);
    };
}

export class Tensor extends Remote {
  constructor(kaiseki, { id, dtype, shape }) {
    super(kaiseki, id);
    this.dtype = dtype;
    this.shape = Object.freeze(shape);
    this.size = shape.reduce((product, dim) => product * dim, 1);
  }
}
forward(Tensor, [
  'toTypedArray',
  'item',
  'set',
  'clone',
  'reshape',
  'broadcastTo',
  'slice',
  'permute',
  'transpose',
  'matmul',
  'add',
  'sub',
  'mul',
  'div',
  'sum',
  'mean',
  'max',
  'min',
  'argmax',
  'argmin',
  'softmax',
  'logSoftmax',
  'take',
]);

export class Optimizer extends Remote {
  constructor(kaiseki, { id, learningRate }) {
    super(kaiseki, id);
    this.learningRate = learningRate;
  }
}

export class Network extends Remote {
  constructor(kaiseki, { id, json, layers, inputShape, outputShape, hasWeights }) {
    super(kaiseki, id);
    Object.assign(this, { json, layers, inputShape, outputShape, hasWeights });
  }

  evaluate(data, { signal, ...options } = {}) {
    return this.kaiseki.request(this, 'evaluate', [data, options], { signal });
  }

  initialize(...args) {
    return this.#getWeights('initialize', args);
  }
  loadWeights(file, { signal, ...options } = {}) {
    return this.#getWeights('loadWeights', [file, options], { signal });
  }

  async #getWeights(method, args, options) {
    const answer = await this.kaiseki.request(this, method, args, options);
    this.hasWeights = true;
    return answer;
  }
}
forward(Optimizer, ['saveState', 'loadState']);
forward(Network, [
  'predict',
  'activations',
  'trainStep',
  'backward',
  'gatherTar',
  'addTar',
  'step',
  'parameters',
  'saveWeights',
]);

const TYPES = { Tensor, Optimizer, Network };

/** Converts arguments to messages. Adds their objects to `found`. */
export function pack(value, found) {
  if (value instanceof Remote) {
    found.push(value);
    return { $object: value.id };
  }
  if (ArrayBuffer.isView(value)) {
    // Posting a view would send its whole buffer.
    return value.byteLength < value.buffer.byteLength ? Uint8Array.prototype.slice.call(value) : value;
  }
  if (Array.isArray(value)) return value.map((item) => pack(item, found));
  if (Object.getPrototypeOf(value ?? 0) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, pack(item, found)]));
}

/** Converts an answer. Its objects belong to `kaiseki`, which is a library or a scope. */
export function unpack(value, kaiseki) {
  if (value?.$type) return new TYPES[value.$type](kaiseki, value);
  if (Array.isArray(value)) return value.map((item) => unpack(item, kaiseki));
  if (Object.getPrototypeOf(value ?? 0) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpack(item, kaiseki)]));
}
