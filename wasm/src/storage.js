// SPDX-License-Identifier: MIT
// The common part of the tensors of all entries.
import { KaisekiError } from './error.js';
import { Handle } from './handle.js';
import { NAMES } from './values.js';

export class Storage extends Handle {
  constructor(kaiseki, address) {
    super(kaiseki, 'kaiseki_tensor_delete', address);
    const { module } = kaiseki;
    module.scratch((reserve) => {
      const numbers = reserve(40);
      module.call('kaiseki_tensor_describe', address, numbers);
      const [dtype, rank, ...dims] = module.array(Int32Array, numbers, 10);
      this.dtype = NAMES[dtype] ?? 'f64'; // only in kaiseki/arrays
      this.shape = Object.freeze(dims.slice(0, rank));
    });
    this.size = this.shape.reduce((product, dim) => product * dim, 1);
  }

  item() {
    if (this.size !== 1)
      throw new KaisekiError('ShapeError', `[item] expected one element, got shape [${this.shape.join(', ')}]`);
    return this.toTypedArray()[0];
  }
}
