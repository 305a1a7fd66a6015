// SPDX-License-Identifier: MIT
// Arguments and results of array operations as words for C++ (wasm/bindings/arrays/value.h).
import { KaisekiError, expect } from './error.js';
import { Handle } from './handle.js';

/** The first word of a value. value.cc has the same order. */
const TAGS = 'missing null boolean number tensor random text bytes numbers tensors record'.split(' ');
const tag = (name) => TAGS.indexOf(name);

/** Reads an operation of the table. A parameter without a default is required. */
export function parseOperation({ signature, types, result, about, group }, number) {
  const [, name, list] = /^(\w+)\((.*)\)$/.exec(signature);
  const parameters = list.split(/, (?=[a-z])/).map((text, i) => {
    const [parameter, fallback] = text.split(' = ');
    return { name: parameter, type: types[i], ...(fallback && { fallback: JSON.parse(fallback) }) };
  });
  return { number, name, parameters, result, about, group, method: types[0].startsWith('Tensor') };
}

const isRecord = (value) =>
  typeof value === 'object' &&
  value !== null &&
  !(value instanceof Handle || Array.isArray(value) || ArrayBuffer.isView(value));

/** Returns a value for each parameter: by position, by its name in a last object, or the default. */
export function complete({ name, parameters }, args) {
  const required = parameters.filter((parameter) => !('fallback' in parameter)).length;
  const named = args.length > required && isRecord(args.at(-1)) ? args.at(-1) : {};
  const given = named === args.at(-1) ? args.slice(0, -1) : args;
  expect(given.length <= parameters.length, name, `at most ${parameters.length} arguments`, given.length);
  const free = parameters.slice(given.length).map((parameter) => parameter.name);
  for (const key of Object.keys(named)) expect(free.includes(key), name, `one of the names ${free.join(', ')}`, key);
  return parameters.map((parameter, i) => {
    const value = i < given.length ? given[i] : named[parameter.name];
    return value === undefined ? parameter.fallback : value;
  });
}

/** Writes the words of one call's arguments. */
export class Encoder {
  constructor(library, name, reserve) {
    this.library = library;
    this.name = name;
    this.reserve = reserve;
    this.words = [];
  }

  #handle(object) {
    const kind = object instanceof this.library.Random ? 'random' : 'tensor';
    const Type = kind === 'random' ? this.library.Random : this.library.Tensor;
    this.words.push(tag(kind), Type.addressOf(this.library, object));
  }

  #bytes(values) {
    this.words.push(this.library.module.put(this.reserve, Uint8Array, values), values.length);
  }

  #text(text) {
    this.#bytes(new TextEncoder().encode(text));
  }

  #list(values) {
    if (values.some((value) => value instanceof Handle)) {
      this.words.push(tag('tensors'), values.length);
      for (const value of values) this.words.push(this.library.Tensor.addressOf(this.library, value));
    } else {
      const wrong = values.find((value) => typeof value !== 'number');
      expect(!values.length || wrong === undefined, this.name, 'a list of numbers or tensors', wrong);
      expect(!values.includes(undefined), this.name, 'a list of numbers or tensors', undefined);
      this.words.push(tag('numbers'), values.length);
      for (const value of values) this.words.push(value);
    }
  }

  #record(record) {
    const entries = Object.entries(record);
    this.words.push(tag('record'), entries.length);
    for (const [key, value] of entries) {
      this.#text(key);
      expect(typeof value === 'number' || value instanceof Handle, this.name, `a tensor or a number as ${key}`, value);
      if (typeof value === 'number') this.words.push(tag('number'), value);
      else this.words.push(tag('tensor'), this.library.Tensor.addressOf(this.library, value));
    }
  }

  add(value) {
    const { words } = this;
    if (value === undefined) words.push(tag('missing'));
    else if (value === null) words.push(tag('null'));
    else if (typeof value === 'boolean' || typeof value === 'number') words.push(tag(typeof value), Number(value));
    else if (typeof value === 'string') {
      words.push(tag('text'));
      this.#text(value);
    } else if (value instanceof Handle) this.#handle(value);
    else if (value instanceof Uint8Array) {
      words.push(tag('bytes'));
      this.#bytes(value);
    } else if (Array.isArray(value) || (ArrayBuffer.isView(value) && 'length' in value)) this.#list(Array.from(value));
    else if (isRecord(value)) this.#record(value);
    else throw new KaisekiError('Error', `[${this.name}] expected a tensor, number, text or list, got ${typeof value}`);
  }
}

/** Reads the words of a result. */
export class Decoder {
  constructor(library, words) {
    this.library = library;
    this.words = words.values();
  }

  #next() {
    return this.words.next().value;
  }

  #bytes() {
    const address = this.#next();
    return this.library.module.array(Uint8Array, address, this.#next()).slice();
  }

  #text() {
    return new TextDecoder().decode(this.#bytes());
  }

  #tensor() {
    return new this.library.Tensor(this.library, this.#next());
  }

  #times(read) {
    return Array.from({ length: this.#next() }, read);
  }

  read(type) {
    if (typeof type === 'object')
      return Object.fromEntries(Object.entries(type).map(([name, member]) => [name, this.read(member)]));
    switch (type) {
      case 'Tensor':
        return this.#tensor();
      case 'Tensor[]':
        return this.#times(() => this.#tensor());
      case 'Record<string, Tensor>':
        return Object.fromEntries(this.#times(() => [this.#text(), this.#tensor()]));
      case 'Random':
        return new this.library.Random(this.library, this.#next());
      case 'boolean':
        return Boolean(this.#next());
      case 'string':
        return this.#text();
      case 'Uint8Array':
        return this.#bytes();
      default:
        return undefined;
    }
  }
}
