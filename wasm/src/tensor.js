// SPDX-License-Identifier: MIT
import { KaisekiError } from './error.js';
import { Storage } from './storage.js';
import { ARRAYS, elements, checkInt32 } from './values.js';

const REDUCTIONS = ['sum', 'mean', 'max', 'min'];

export class Tensor extends Storage {
  #elements() {
    const { module } = this.kaiseki;
    const first = module.call('kaiseki_tensor_data', this.address);
    return module.array(ARRAYS[this.dtype], first, this.size);
  }

  toTypedArray() {
    return this.#elements().slice();
  }

  set(values) {
    if (values.length !== this.size)
      throw new KaisekiError('ShapeError', `[set] expected ${this.size} values, got ${values.length}`);
    this.#elements().set(elements(values, this.dtype));
    return this;
  }

  #make(name, ...args) {
    return new Tensor(this.kaiseki, this.kaiseki.module.call(name, ...args));
  }

  #withNumbers(numbers, body) {
    const { module } = this.kaiseki;
    return module.scratch((reserve) => body(module.put(reserve, Int32Array, numbers)));
  }

  clone() {
    return this.#make('kaiseki_clone', this.address);
  }

  reshape(shape) {
    return this.#withNumbers(shape, (dims) => this.#make('kaiseki_reshape', this.address, shape.length, dims));
  }

  broadcastTo(shape) {
    return this.#withNumbers(shape, (dims) => this.#make('kaiseki_broadcast', this.address, shape.length, dims));
  }

  slice(axis, start, length) {
    return this.#make('kaiseki_slice', this.address, checkInt32(axis), checkInt32(start), checkInt32(length));
  }

  permute(axes) {
    return this.#withNumbers(axes, (at) => this.#make('kaiseki_permute', this.address, axes.length, at));
  }

  transpose() {
    const axes = this.shape.map((_, axis) => axis);
    axes.push(...axes.splice(-2).reverse());
    return this.permute(axes);
  }

  matmul(other, { transposeA = false, transposeB = false } = {}) {
    return this.#make('kaiseki_matmul', this.address, Tensor.addressOf(this.kaiseki, other), transposeA, transposeB);
  }

  #binary(operator, other) {
    return this.kaiseki.elementwise(`a ${operator} b`, { a: this, b: other });
  }
  add(other) {
    return this.#binary('+', other);
  }
  sub(other) {
    return this.#binary('-', other);
  }
  mul(other) {
    return this.#binary('*', other);
  }
  div(other) {
    return this.#binary('/', other);
  }

  #reduce(kind, axes = [], keepDims = false) {
    return this.#withNumbers(axes, (at) =>
      this.#make('kaiseki_reduce', REDUCTIONS.indexOf(kind), this.address, axes.length, at, keepDims),
    );
  }
  sum(axes, keepDims) {
    return this.#reduce('sum', axes, keepDims);
  }
  mean(axes, keepDims) {
    return this.#reduce('mean', axes, keepDims);
  }
  max(axes, keepDims) {
    return this.#reduce('max', axes, keepDims);
  }
  min(axes, keepDims) {
    return this.#reduce('min', axes, keepDims);
  }

  argmax(axis = -1) {
    return this.#make('kaiseki_arg', true, this.address, checkInt32(axis));
  }
  argmin(axis = -1) {
    return this.#make('kaiseki_arg', false, this.address, checkInt32(axis));
  }
  softmax(axis = -1) {
    return this.#make('kaiseki_softmax', false, this.address, checkInt32(axis));
  }
  logSoftmax(axis = -1) {
    return this.#make('kaiseki_softmax', true, this.address, checkInt32(axis));
  }

  /** Selects elements along an axis. `indices` is i32. Its shape takes the place of the axis. */
  take(indices, axis = 0) {
    return this.#make('kaiseki_take', this.address, Tensor.addressOf(this.kaiseki, indices), checkInt32(axis));
  }
}
