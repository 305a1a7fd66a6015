// SPDX-License-Identifier: MIT
// Objects of the module that JavaScript holds: freed by dispose(), by the tidy() scope in which they were made, or, when
// forgotten, after the garbage collector has found them.
import { expect } from './error.js';

const forgotten = new FinalizationRegistry(({ module, release, address }) => module.call(release, address));

export class Handle {
  #address;
  constructor(kaiseki, release, address) {
    this.kaiseki = kaiseki;
    this.#address = address;
    this.release = release;
    forgotten.register(this, { module: kaiseki.module, release, address }, this);
    kaiseki.scopes.at(-1)?.add(this);
  }

  get address() {
    expect(this.#address, this.constructor.name, 'a live object', 'a disposed one');
    return this.#address;
  }

  /** The address of an object of this class that a call of `kaiseki` is given. */
  static given(kaiseki, object) {
    const known = object instanceof this;
    expect(known && object.kaiseki === kaiseki, this.name, 'one of this library', known ? 'one of another' : object);
    return object.address;
  }

  get disposed() {
    return !this.#address;
  }

  /** Frees it; again does nothing. */
  dispose() {
    if (!this.#address) return;
    forgotten.unregister(this);
    this.kaiseki.module.call(this.release, this.#address);
    this.#address = 0;
  }
}
