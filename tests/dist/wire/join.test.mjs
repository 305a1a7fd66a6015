// SPDX-License-Identifier: MIT
// Tests that web/pool/join.js refuses to start.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const old = `data:text/javascript,delete globalThis.WebSocket;
  Object.defineProperty(process, 'allowedNodeEnvironmentFlags', {value: new Set()});`.replace(/\s+/g, '%20');

const join = fileURLToPath(new URL('../../../web/pool/join.js', import.meta.url));

test('names the required version when Node is too old', () => {
  const { status, stderr } = spawnSync(process.execPath, ['--import', old, join, 'http://127.0.0.1:9'], {
    encoding: 'utf8',
    timeout: 60000,
  });
  assert.equal(status, 1);
  assert.match(stderr, /join: expected Node 20.10 or newer, which has WebSocket, got v/);
});

test('refuses to send a token to another machine without https', () => {
  for (const host of ['192.0.2.1', '[2001:db8::1]', '0.0.0.0', '127.0.0.1.example.org', 'localhost.example.org']) {
    const { status, stderr } = spawnSync(process.execPath, [join, `http://${host}:9`], {
      encoding: 'utf8',
      timeout: 60000,
      env: { ...process.env, KAISEKI_NODE_TOKEN: 'a token of the coordinator' },
    });
    assert.equal(status, 1);
    assert.ok(stderr.includes(`join: expected https to send a token to another machine, got http://${host};`), stderr);
  }
});
