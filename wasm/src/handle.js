// SPDX-License-Identifier: MIT
// Objects of the module that JavaScript holds. dispose(), the enclosing tidy() or the garbage collector frees them.
import { expect } from './error.js';

const registry = new FinalizationRegistry(({ module, release, address }) => module.release(release, address));

export class Handle {
  #address;
  constructor(kaiseki, release, address) {
    this.kaiseki = kaiseki;
    this.#address = address;
    this.release = release;
    registry.register(this, { module: kaiseki.module, release, address }, this);
    kaiseki.scopes.at(-1)?.add(this);
  }

  get address() {
    expect(this.#address, this.constructor.name, 'a live object', 'a disposed one');
    return this.#address;
  }

  /** Returns the address of `object`. Throws if it is not of this class or belongs to another library. */
  static addressOf(kaiseki, object) {
    const sameClass = object instanceof this;
    expect(
      sameClass && object.kaiseki === kaiseki,
      this.name,
      'an object of this library',
      sameClass ? 'an object of another' : object,
    );
    return object.address;
  }

  get disposed() {
    return !this.#address;
  }

  /** Frees the object. A second call does nothing. */
  dispose() {
    if (!this.#address) return;
    registry.unregister(this);
    this.kaiseki.module.release(this.release, this.#address);
    this.#address = 0;
  }
}
