// SPDX-License-Identifier: MIT
// kaiseki/sync where a thread cannot be had.
import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import workers from 'node:worker_threads';
import { load } from 'kaiseki/sync';

test('a thread without a script ends load(), and the others with it', { timeout: 60000 }, async () => {
  const ended = [];
  workers.Worker = class extends workers.Worker {
    constructor(script, options) {
      super(ended.length === 1 ? new URL('nowhere.js', script) : script, options);
      ended.push(new Promise((resolve) => this.once('exit', resolve)));
    }
  };
  syncBuiltinESMExports();
  await assert.rejects(load({ threads: 4 }), { name: 'KaisekiError', message: /^\[load\] expected the script of a thread at .*worker\.js/ });
  assert.equal((await Promise.all(ended)).length, 3);
});
