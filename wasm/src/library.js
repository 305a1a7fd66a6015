// SPDX-License-Identifier: MIT
import { Handle } from './handle.js';
import { retained } from './scope.js';

/** A library that runs where it is called. */
export class Library {
  constructor(module) {
    this.module = module;
    this.scopes = [];
  }

  memory() {
    return this.module.account();
  }

  trim() {
    this.module.call('kaiseki_trim');
  }

  tidy(body) {
    const scope = new Set();
    this.scopes.push(scope);
    let result;
    try {
      result = body();
    } finally {
      this.scopes.pop();
      const kept = retained(result, Handle);
      for (const object of scope) {
        if (!kept.has(object)) object.dispose();
        else this.scopes.at(-1)?.add(object);
      }
    }
    return result;
  }
}
