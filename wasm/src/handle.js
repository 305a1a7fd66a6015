// SPDX-License-Identifier: MIT
// Objects of the module that JavaScript holds: freed by dispose(), by the tidy() scope in which they were made, or, when
// forgotten, after the garbage collector has found them.
import { KaisekiError } from './error.js';

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
    if (!this.#address) throw new KaisekiError('Error', `[${this.constructor.name}] expected a live object, got a disposed one`);
    return this.#address;
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
