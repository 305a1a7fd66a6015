// SPDX-License-Identifier: MIT
// The entry kaiseki/learn: classic machine learning, in a small module with one thread.
import { KaisekiError, expect } from './error.js';
import { Handle } from './handle.js';
import { Module } from './module.js';
import { readTensors } from './safetensors.js';
import { checkInt32, checkNatural } from './values.js';

export { KaisekiError };

const FILES = {
  script: new URL('../dist/kaiseki-learn.mjs', import.meta.url),
  code: new URL('../dist/kaiseki-learn.wasm', import.meta.url),
};

/** The sides of a digit's picture. */
const SIDE = 28;

export class Model extends Handle {
  constructor(learn, address) {
    super(learn, 'kaiseki_learn_delete', address);
    const { name, task, uses, hasScore, hasPartialFit } = this.#describe();
    Object.assign(this, { name, task, uses, hasScore, hasPartialFit });
  }

  #describe() {
    const { module } = this.kaiseki;
    return JSON.parse(module.text(module.call('kaiseki_learn_describe', this.address)));
  }

  get settings() {
    return this.#describe().settings;
  }

  get features() {
    return this.#describe().features;
  }

  get classNames() {
    return this.#describe().classNames;
  }

  /** Calls a function with x, and with y if there is one. */
  #withSamples(place, x, shape, y, body) {
    const { module } = this.kaiseki;
    const [rows, features] = checkShape(place, x, shape);
    const outputs = y && rows ? y.length / rows : 1;
    const regression = this.task === 'regression';
    if (y)
      checkLength(
        place,
        y,
        Number.isInteger(outputs) && (regression || outputs === 1),
        regression ? `y of ${rows} rows` : `${rows} labels`,
      );
    return module.scratch((reserve) =>
      body(
        reserve,
        module.put(reserve, Float32Array, x),
        rows,
        features,
        y ? module.put(reserve, regression ? Float32Array : Int32Array, y) : 0,
        outputs,
      ),
    );
  }

  fit(x, shape, y) {
    this.#withSamples('fit', x, shape, y, (_, ...samples) =>
      this.kaiseki.module.call('kaiseki_learn_fit', this.address, ...samples),
    );
    return this;
  }

  partial_fit(x, shape, y, classes = []) {
    const { module } = this.kaiseki;
    this.#withSamples('partial_fit', x, shape, y, (reserve, ...samples) =>
      module.call(
        'kaiseki_learn_partial_fit',
        this.address,
        ...samples,
        module.put(reserve, Int32Array, classes),
        classes.length,
      ),
    );
    return this;
  }

  apply(use, x, shape) {
    const { module } = this.kaiseki;
    return this.#withSamples('apply', x, shape, undefined, (reserve, data, rows, features) => {
      const integers = reserve(4);
      const values = module.call(
        'kaiseki_learn_apply',
        this.address,
        module.putText(reserve, use),
        data,
        rows,
        features,
        integers,
      );
      const { buffer } = module.bytes(values);
      return module.array(Int32Array, integers, 1)[0] ? new Int32Array(buffer) : new Float32Array(buffer);
    });
  }

  score(x, shape, y) {
    return this.#withSamples('score', x, shape, y, (_, ...samples) =>
      this.kaiseki.module.call('kaiseki_learn_score', this.address, ...samples),
    );
  }

  save() {
    const { module } = this.kaiseki;
    return module.bytes(module.call('kaiseki_learn_encode', this.address));
  }

  state() {
    const { tensors, metadata } = readTensors(this.save());
    const part = 'model.';
    return {
      values: JSON.parse(metadata['kaiseki.model']).model,
      tensors: Object.fromEntries(
        Object.entries(tensors)
          .filter(([name]) => name.startsWith(part))
          .map(([name, tensor]) => [name.slice(part.length), tensor]),
      ),
    };
  }
}

function checkLength(place, values, fits, expected) {
  if (!fits) throw new KaisekiError('ShapeError', `[${place}] expected ${expected}, got ${values.length} values`);
}

/** Returns the shape [rows, features] of x. */
function checkShape(place, x, shape) {
  expect(Array.isArray(shape) && shape.length === 2, place, 'a shape [rows, features]', shape);
  const [rows, features] = shape.map(checkInt32);
  checkLength(place, x, x.length === rows * features, `${rows * features} values for shape [${rows}, ${features}]`);
  return [rows, features];
}

class Learn {
  constructor(module) {
    this.module = module;
    this.scopes = [];
    this.models = JSON.parse(module.text(module.call('kaiseki_learn_kinds')));
  }

  model(name, settings = {}) {
    const { module } = this;
    return module.scratch(
      (reserve) =>
        new Model(
          this,
          module.call(
            'kaiseki_learn_model',
            module.putText(reserve, name),
            module.putText(reserve, JSON.stringify(settings)),
          ),
        ),
    );
  }

  load(bytes) {
    const { module } = this;
    return module.scratch(
      (reserve) =>
        new Model(this, module.call('kaiseki_learn_decode', module.put(reserve, Uint8Array, bytes), bytes.length)),
    );
  }

  digits({ count = 1000, seed = 0, train = true } = {}) {
    const { module } = this;
    const images = module.bytes(module.call('kaiseki_learn_digits', checkInt32(count), checkNatural(seed), train));
    return { images, labels: Int32Array.from({ length: count }, (_, i) => i % 10), shape: [count, SIDE, SIDE] };
  }

  memory() {
    return this.module.account();
  }
}

export async function load({ onProgress } = {}) {
  const module = await Module.open(FILES, { onProgress });
  module.call('kaiseki_start', 1);
  return new Learn(module);
}
