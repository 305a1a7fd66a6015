// SPDX-License-Identifier: MIT
// The entry kaiseki/arrays: all operations on arrays, in a module with one thread. The module has a table of the operations,
// which become methods and functions here.
import { Decoder, Encoder, complete, parseOperation } from './arrays_code.js';
import { KaisekiError, expect } from './error.js';
import { Handle } from './handle.js';
import { Library } from './library.js';
import { Module } from './module.js';
import { Storage } from './storage.js';
import { ARRAYS, elements } from './values.js';

export { KaisekiError };

const FILES = {
  script: new URL('../dist/kaiseki-arrays.mjs', import.meta.url),
  code: new URL('../dist/kaiseki-arrays.wasm', import.meta.url),
};
const ALL_ARRAYS = { ...ARRAYS, f64: Float64Array };
const MOST_AXES = 8;

export class Tensor extends Storage {
  toTypedArray() {
    const whole = this.contiguous(),
      { module } = this.kaiseki;
    try {
      const first = module.call('kaiseki_tensor_data', whole.address);
      return module.array(ALL_ARRAYS[this.dtype], first, this.size).slice();
    } finally {
      whole.dispose();
    }
  }

  set(values) {
    const from = this.kaiseki.tensor(values, this.shape, this.dtype);
    from.copy(this);
    from.dispose();
    return this;
  }

  toString() {
    return this.to_string();
  }
}

export class Random extends Handle {
  constructor(kaiseki, address) {
    super(kaiseki, 'kaiseki_generator_delete', address);
  }
}

/** The numbers of nested lists in one list, and their shape. */
function flatten(values, depth = 0) {
  if (ArrayBuffer.isView(values)) {
    const integers = values instanceof BigInt64Array || values instanceof BigUint64Array;
    expect(!integers && 'length' in values, 'tensor', 'an array of numbers of at most 32 bits or of doubles', values);
    return { flat: values, shape: [values.length] };
  }
  if (!Array.isArray(values)) return { flat: [values], shape: [] };
  expect(depth < MOST_AXES, 'tensor', `lists of at most ${MOST_AXES} levels`, 'more');
  if (!values.some((value) => typeof value === 'object')) return { flat: values, shape: [values.length] };
  const rows = values.map((row) => flatten(row, depth + 1)),
    [{ shape }] = rows;
  if (rows.some((row) => String(row.shape) !== String(shape)))
    throw new KaisekiError('ShapeError', '[tensor] expected rows of one length, got different ones');
  return { flat: rows.flatMap((row) => Array.from(row.flat)), shape: [rows.length, ...shape] };
}

/** The default type of tensor(). Lists have the type of their first element. */
function typeOf(values) {
  const found = Object.keys(ALL_ARRAYS).find((name) => name !== 'bool' && values instanceof ALL_ARRAYS[name]);
  if (found) return found;
  let first = values;
  for (let depth = 0; Array.isArray(first) && depth < MOST_AXES; ++depth) [first] = first;
  return typeof first === 'boolean' ? 'bool' : 'f32';
}

class Arrays extends Library {
  constructor(module) {
    super(module);
    Object.assign(this, { Tensor, Random });
    this.operations = JSON.parse(module.text(module.call('kaiseki_arrays_table'))).map(parseOperation);
    for (const operation of this.operations) {
      const { name, method } = operation;
      const value = method
        ? function (...args) {
            return this.kaiseki.run(operation, [this, ...args]);
          }
        : function (...args) {
            return this.run(operation, args);
          };
      Object.defineProperty((method ? Tensor : Arrays).prototype, name, { value, configurable: true, writable: true });
    }
  }

  run(operation, args) {
    const { module } = this;
    const values = complete(operation, args);
    if (operation.result === 'this') Tensor.addressOf(this, values[0]);
    return module.scratch((reserve) => {
      const encoder = new Encoder(this, operation.name, reserve);
      for (const value of values) encoder.add(value);
      const { words } = encoder;
      const address = module.put(reserve, Float64Array, words);
      const result = module.bytes(module.call('kaiseki_arrays_run', operation.number, address, words.length));
      if (operation.result === 'this') return values[0];
      return new Decoder(this, new Float64Array(result.buffer)).read(operation.result);
    });
  }

  tensor(values, shape, dtype = typeOf(values)) {
    const found = flatten(values);
    const array = elements(found.flat, dtype, ALL_ARRAYS);
    const made = this.empty(shape ?? found.shape, dtype);
    if (array.length !== made.size)
      throw new KaisekiError(
        'ShapeError',
        `[tensor] expected ${made.size} values for shape [${made.shape.join(', ')}], got ${array.length}`,
      );
    this.module.array(ALL_ARRAYS[dtype], this.module.call('kaiseki_tensor_data', made.address), made.size).set(array);
    return made;
  }
}

export async function load({ onProgress } = {}) {
  const module = await Module.open(FILES, { onProgress });
  module.call('kaiseki_start', 1);
  return new Arrays(module);
}
