// SPDX-License-Identifier: MIT
// The entry kaiseki/sync. Operations run in the calling thread.
import { KaisekiError, expect } from './error.js';
import { Library } from './library.js';
import { Network, Optimizer } from './network.js';
import { Tensor } from './tensor.js';
import { TrainingNode } from './training_node.js';
import { NAMES, checkType, elements, checkNatural, checkInt32 } from './values.js';
import { loadVariant } from './variant.js';

export { KaisekiError, Network, Optimizer, Tensor, TrainingNode };

const pair = (value) => (typeof value === 'number' ? [value, value] : value);

function dtypeOf(values) {
  if (values instanceof Int32Array) return 'i32';
  return values instanceof Uint8Array ? 'u8' : 'f32';
}

class Kaiseki extends Library {
  get threads() {
    return this.module.threads;
  }

  get stopFlag() {
    return this.module.stopFlag;
  }

  close() {
    this.module.close();
  }

  empty(shape, dtype = 'f32') {
    checkType(dtype);
    return this.#shaped(shape, (dims) => this.module.call('kaiseki_tensor', NAMES.indexOf(dtype), shape.length, dims));
  }

  tensor(values, shape = [values.length], dtype = dtypeOf(values)) {
    const size = shape.reduce((product, dim) => product * dim, 1);
    if (values.length !== size)
      throw new KaisekiError(
        'ShapeError',
        `[tensor] expected ${size} values for shape [${shape.join(', ')}], got ${values.length}`,
      );
    const array = elements(values, dtype);
    return this.empty(shape, dtype).set(array);
  }

  uniform(shape, { seed = 0, low = 0, high = 1 } = {}) {
    return this.#shaped(shape, (dims) =>
      this.module.call('kaiseki_random', false, shape.length, dims, checkNatural(seed), low, high),
    );
  }

  normal(shape, { seed = 0, mean = 0, deviation = 1 } = {}) {
    return this.#shaped(shape, (dims) =>
      this.module.call('kaiseki_random', true, shape.length, dims, checkNatural(seed), mean, deviation),
    );
  }

  elementwise(expression, bindings) {
    const { module } = this;
    const values = Object.values(bindings),
      number = (value) => typeof value === 'number';
    return module.scratch(
      (reserve) =>
        new Tensor(
          this,
          module.call(
            'kaiseki_elementwise',
            module.putText(reserve, expression),
            values.length,
            module.put(
              reserve,
              Uint32Array,
              Object.keys(bindings).map((name) => module.putText(reserve, name)),
            ),
            module.put(
              reserve,
              Uint32Array,
              values.map((value) => (number(value) ? 0 : Tensor.addressOf(this, value))),
            ),
            module.put(
              reserve,
              Float32Array,
              values.map((value) => (number(value) ? value : 0)),
            ),
          ),
        ),
    );
  }

  concatenate(parts, axis = 0) {
    const { module } = this;
    return module.scratch(
      (reserve) =>
        new Tensor(
          this,
          module.call(
            'kaiseki_concatenate',
            parts.length,
            module.put(
              reserve,
              Uint32Array,
              parts.map((part) => Tensor.addressOf(this, part)),
            ),
            checkInt32(axis),
          ),
        ),
    );
  }

  conv2d(x, filter, { bias, stride = 1, padding = 0, dilation = 1, groups = 1 } = {}) {
    return this.#shaped([...pair(stride), ...pair(padding), ...pair(dilation), groups], (numbers) =>
      this.module.call(
        'kaiseki_conv2d',
        Tensor.addressOf(this, x),
        Tensor.addressOf(this, filter),
        bias ? Tensor.addressOf(this, bias) : 0,
        numbers,
      ),
    );
  }

  maxPool2d(x, { window = 2, stride = window, padding = 0 } = {}) {
    return this.#shaped([...pair(window), ...pair(stride), ...pair(padding)], (numbers) =>
      this.module.call('kaiseki_pool2d', false, Tensor.addressOf(this, x), numbers),
    );
  }

  averagePool2d(x, { window = 2, stride = window, padding = 0 } = {}) {
    return this.#shaped([...pair(window), ...pair(stride), ...pair(padding)], (numbers) =>
      this.module.call('kaiseki_pool2d', true, Tensor.addressOf(this, x), numbers),
    );
  }

  network(source) {
    return new Network(this, source);
  }

  trainingNode(options) {
    return new TrainingNode(this, options);
  }

  optimizer(name = 'momentum', options = {}) {
    return new Optimizer(this, name, options);
  }

  /** Selects samples by index. */
  rows(table, rows) {
    const { module } = this;
    return module.scratch(
      (reserve) =>
        new Tensor(
          this,
          module.call(
            'kaiseki_rows',
            Tensor.addressOf(this, table),
            module.put(reserve, Int32Array, rows),
            rows.length,
          ),
        ),
    );
  }

  /** Selects samples of a data set, and normalizes them. `change` changes the pictures before. */
  batch(data, rows, change) {
    return this.tidy(() => {
      const images = this.rows(data.images, rows);
      return { images: this.normalize(change ? change(images) : images, data), labels: this.rows(data.labels, rows) };
    });
  }

  normalize(images, { mean = [], std = [] } = {}) {
    Tensor.addressOf(this, images);
    for (const { length } of [mean, std])
      expect([0, 1, images.shape[1]].includes(length), 'data', '1 number, or one for each channel', length);
    expect(
      std.every((value) => value > 0),
      'data',
      'each std above 0',
      String(std),
    );
    if (images.dtype === 'u8') return this.#normalizeBytes(images, mean, std);
    if (!mean.length && !std.length) return images.slice(0, 0, images.shape[0]);
    const each = (values) => this.tensor(Float32Array.from(values), [values.length, ...images.shape.slice(2).fill(1)]);
    const m = mean.length ? each(mean) : 0,
      s = std.length ? each(std) : 1;
    return this.elementwise('(x - m) / s', { x: images, m, s });
  }

  #normalizeBytes(images, mean, std) {
    const { module } = this;
    return module.scratch((reserve) => {
      const numbers = [mean, std].flatMap((values) => [module.put(reserve, Float32Array, values), values.length]);
      return new Tensor(this, module.call('kaiseki_normalize', Tensor.addressOf(this, images), ...numbers));
    });
  }

  idx(bytes) {
    const { module } = this;
    return module.scratch(
      (reserve) => new Tensor(this, module.call('kaiseki_idx', module.put(reserve, Uint8Array, bytes), bytes.length)),
    );
  }

  mnist(images, labels) {
    return this.tidy(() => {
      const pictures = this.idx(images),
        classes = this.idx(labels),
        [count, ...size] = pictures.shape;
      if (size.length !== 2)
        throw new KaisekiError('ParseError', `[mnist] expected pictures [n, height, width], got [${pictures.shape}]`);
      if (classes.shape.length !== 1 || classes.size !== count)
        throw new KaisekiError('ParseError', `[mnist] expected ${count} labels, got [${classes.shape}]`);
      return {
        images: pictures.reshape([count, 1, ...size]),
        labels: this.tensor(Int32Array.from(classes.toTypedArray())),
      };
    });
  }

  cifar10(bytes) {
    return this.#data((out) =>
      this.module.scratch((reserve) =>
        this.module.call('kaiseki_cifar10', this.module.put(reserve, Uint8Array, bytes), bytes.length, out),
      ),
    );
  }

  picture(bytes, { width, height, channels = 3, asStored = false }) {
    const { module } = this;
    return module.scratch(
      (reserve) =>
        new Tensor(
          this,
          module.call(
            'kaiseki_picture',
            module.put(reserve, Uint8Array, bytes),
            bytes.length,
            checkInt32(channels),
            checkInt32(height),
            checkInt32(width),
            asStored,
          ),
        ),
    );
  }

  digits({ count = 1000, seed = 0, train = true } = {}) {
    return this.#data((out) => this.module.call('kaiseki_digits', checkInt32(count), checkNatural(seed), train, out));
  }

  /** Makes a data set. `make` writes the addresses of images and labels. */
  #data(make) {
    const { module } = this;
    return module.scratch((reserve) => {
      const out = reserve(8);
      make(out);
      const [images, labels] = module.array(Uint32Array, out, 2);
      return { images: new Tensor(this, images), labels: new Tensor(this, labels) };
    });
  }

  /** Makes a tensor by a call that takes the address of integers. */
  #shaped(numbers, make) {
    return this.module.scratch((reserve) => new Tensor(this, make(this.module.put(reserve, Int32Array, numbers))));
  }
}

export async function load(options) {
  return new Kaiseki(await loadVariant(options));
}
