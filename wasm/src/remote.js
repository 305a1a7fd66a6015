// SPDX-License-Identifier: MIT
// Tensors, networks and optimizers that live in the worker: here are their numbers, and what does not change.
import { expect } from './error.js';

const forgotten = new FinalizationRegistry(({ connection, id }) => connection.post({ dispose: id }));

export class Remote {
  #id;
  constructor(kaiseki, id) {
    this.#id = id;
    forgotten.register(this, { connection: kaiseki.connection, id }, this);
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
    forgotten.unregister(this);
    this.kaiseki.connection.post({ dispose: this.#id });
    this.kaiseki.made?.delete(this);
    this.#id = 0;
  }

  /** From now on of that library, or scope of it. */
  moveTo(kaiseki) {
    Object.defineProperty(this, 'kaiseki', { value: kaiseki, configurable: true });
    kaiseki.made?.add(this);
    if (kaiseki.ended) this.dispose();
  }
}

/** Methods that are the worker's. */
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
forward(Tensor, ['toTypedArray', 'item', 'set', 'clone', 'reshape', 'broadcastTo', 'slice', 'permute', 'transpose', 'matmul',
  'add', 'sub', 'mul', 'div', 'sum', 'mean', 'max', 'min', 'argmax', 'argmin', 'softmax', 'logSoftmax', 'gather']);

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

  initialize(...args) { return this.#getWeights('initialize', args); }
  loadWeights(...args) { return this.#getWeights('loadWeights', args); }

  async #getWeights(method, args) {
    const answer = await this.kaiseki.request(this, method, args);
    this.hasWeights = true;
    return answer;
  }
}
forward(Network, ['predict', 'activations', 'trainStep', 'parameters', 'saveWeights']);

const TYPES = { Tensor, Optimizer, Network };

/** Arguments as they are sent; the objects among them are added to `found`. */
export function pack(value, found) {
  if (value instanceof Remote) {
    found.push(value);
    return { $object: value.id };
  }
  if (ArrayBuffer.isView(value)) {
    // A view is sent with all of its buffer.
    return value.byteLength < value.buffer.byteLength ? Uint8Array.prototype.slice.call(value) : value;
  }
  if (Array.isArray(value)) return value.map((item) => pack(item, found));
  if (Object.getPrototypeOf(value ?? 0) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, pack(item, found)]));
}

/** An answer, with its objects as those of a library or of a scope. */
export function unpack(value, kaiseki) {
  if (value?.$type) return new TYPES[value.$type](kaiseki, value);
  if (Array.isArray(value)) return value.map((item) => unpack(item, kaiseki));
  if (Object.getPrototypeOf(value ?? 0) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpack(item, kaiseki)]));
}
