// SPDX-License-Identifier: MIT
// Limits the memory of a task's JavaScript. It runs in the task's realm before the task's code, and replaces all that
// makes buffers. A buffer counts although it is garbage: no realm can ask which buffers are. The task's code may change
// every object of the language, so this file keeps the functions that it calls. JavaScript has no limit for other
// objects.

const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { iterator, toStringTag } = Symbol;
const { trunc } = Math;
const ToNumber = Number;
const TooLarge = RangeError;

const method = (holder, name) => {
  const original = holder[name];
  return (self, ...args) => apply(original, self, args);
};
const getter = (prototype, name) => {
  const { get } = getOwnPropertyDescriptor(prototype, name);
  return (self) => apply(get, self, []);
};
const TypedArray = getPrototypeOf(Uint8Array);
const bytesOf = getter(ArrayBuffer.prototype, 'byteLength');
const bufferOf = getter(TypedArray.prototype, 'buffer');
const lengthOf = getter(TypedArray.prototype, 'length');
const kindOf = getter(TypedArray.prototype, toStringTag); // undefined: not a typed array
const has = method(WeakSet.prototype, 'has');
const add = method(WeakSet.prototype, 'add');

const isObject = (value) => value !== null && (typeof value === 'object' || typeof value === 'function');
const toLength = (value) => trunc(ToNumber(value)) || 0;
const at = (args, i) => (args.length > i ? args[i] : undefined);

function isBuffer(value) {
  try {
    return bytesOf(value) >= 0;
  } catch {
    return false;
  }
}

/**
 * After begin(bytes) the task may make buffers of this many bytes. A buffer beyond them throws, after a call of
 * `onExceeded(text)`. `used()` returns the bytes since begin().
 * @param {(text: string) => void} onExceeded
 */
export function limitBuffers(onExceeded) {
  const counted = new WeakSet();
  let most = Infinity,
    left = Infinity;

  function charge(bytes) {
    if (!(bytes > left)) {
      if (bytes > 0) left -= bytes;
      return;
    }
    const text = `the ticket's buffers have more than ${most} bytes (memory_bytes of the task)`;
    onExceeded(text);
    throw new TooLarge(text);
  }
  /** Counts a buffer that the language made by itself. */
  function account(made) {
    const buffer = kindOf(made) === undefined ? made : bufferOf(made);
    if (has(counted, buffer)) return made;
    add(counted, buffer);
    charge(bytesOf(buffer));
    return made;
  }
  /** The bytes are charged before the buffer is made. */
  function make(bytes, target, args, newTarget) {
    charge(bytes);
    const made = construct(target, args, newTarget);
    add(counted, kindOf(made) === undefined ? made : bufferOf(made));
    return made;
  }

  function makeBuffer(target, args, newTarget) {
    const length = toLength(at(args, 0)),
      options = at(args, 1),
      given = isObject(options) ? options.maxByteLength : undefined;
    if (given === undefined) return make(length, target, [length], newTarget);
    const largest = toLength(given);
    return make(largest, target, [length, { __proto__: null, maxByteLength: largest }], newTarget);
  }

  function makeArray(size, target, args, newTarget) {
    const from = at(args, 0);
    if (!isObject(from)) {
      const length = toLength(from);
      return make(size * length, target, [length], newTarget);
    }
    if (isBuffer(from)) return construct(target, args, newTarget);
    if (kindOf(from) !== undefined) return make(size * lengthOf(from), target, [from], newTarget);
    const isIterable = from[iterator] !== undefined && from[iterator] !== null,
      list = isIterable ? [...from] : from,
      length = toLength(list.length),
      made = make(size * length, target, [length], newTarget);
    for (let i = 0; i < length; ++i) made[i] = list[i];
    return made;
  }

  function replace(name, make) {
    const original = globalThis[name];
    const value = new Proxy(original, { __proto__: null, construct: make });
    defineProperty(globalThis, name, { value });
    defineProperty(original.prototype, 'constructor', { value });
  }
  function wrap(holder, name, lengthAt) {
    if (!holder[name]) return; // an older engine
    const original = holder[name];
    const value = {
      [name](...args) {
        if (lengthAt < args.length) charge((args[lengthAt] = toLength(args[lengthAt])));
        return account(apply(original, this, args));
      },
    }[name];
    defineProperty(holder, name, { value });
  }

  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value = globalThis[name];
    if (typeof value !== 'function' || getPrototypeOf(value) !== TypedArray) continue;
    const size = value.BYTES_PER_ELEMENT;
    for (const maker of ['fromBase64', 'fromHex']) wrap(value, maker);
    replace(name, (target, args, newTarget) => makeArray(size, target, args, newTarget));
  }
  for (const name of ['slice', 'map', 'filter', 'toReversed', 'toSorted', 'with']) wrap(TypedArray.prototype, name);
  wrap(ArrayBuffer.prototype, 'slice');
  for (const name of ['transfer', 'transferToFixedLength']) wrap(ArrayBuffer.prototype, name, 0);
  replace('ArrayBuffer', makeBuffer);
  // They would make memory too. A module in WebAssembly is a task of its own.
  for (const name of ['WebAssembly', 'SharedArrayBuffer']) Reflect.deleteProperty(globalThis, name);

  return {
    begin(bytes) {
      most = left = bytes;
    },
    used: () => most - left,
  };
}
