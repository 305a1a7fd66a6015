// SPDX-License-Identifier: MIT
// kaiseki/sync when a thread or memory is not available.
import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import workers from 'node:worker_threads';
import { load } from 'kaiseki/sync';

test('load() ends all threads when a script is missing', { timeout: 60000 }, async () => {
  const ended = [];
  workers.Worker = class extends workers.Worker {
    constructor(script, options) {
      super(ended.length === 1 ? new URL('nowhere.js', script) : script, options);
      ended.push(new Promise((resolve) => this.once('exit', resolve)));
    }
  };
  syncBuiltinESMExports();
  await assert.rejects(load({ threads: 4 }), {
    name: 'KaisekiError',
    message: /^\[load\] cannot load a thread.s script .*worker\.js/,
  });
  assert.equal((await Promise.all(ended)).length, 3);
});

test('uses less memory when 4 GB cannot be reserved', { timeout: 60000 }, async (t) => {
  const { Memory } = WebAssembly,
    asked = [];
  let most = 8192; // 512 MB
  WebAssembly.Memory = function ({ maximum, ...rest }) {
    asked.push(maximum);
    if (maximum > most) throw new RangeError('could not allocate memory');
    return new Memory({ maximum, ...rest });
  };
  t.after(() => {
    WebAssembly.Memory = Memory;
  });
  for (const threads of [1, 2]) {
    asked.length = 0;
    const kaiseki = await load({ threads });
    assert.deepEqual(asked, [65536, 32768, 16384, 8192]);
    assert.throws(() => kaiseki.uniform([1024, 1024, 200]), { name: 'KaisekiError', kind: 'OutOfMemory' });
    assert.equal(kaiseki.tensor([1, 2]).add(1).toTypedArray()[1], 3);
    kaiseki.close();
  }
  most = 1;
  await assert.rejects(load({ threads: 1 }), {
    name: 'KaisekiError',
    kind: 'OutOfMemory',
    message: /^\[load\] cannot reserve memory/,
  });
});
