// SPDX-License-Identifier: MIT
// web/pool/join.js in a Node that has no WebSocket.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

const old = `data:text/javascript,delete globalThis.WebSocket;
  Object.defineProperty(process, 'allowedNodeEnvironmentFlags', {value: new Set()});`.replace(/\s+/g, '%20');

test('an old Node is told which one is needed', () => {
  const join = fileURLToPath(new URL('../../../web/pool/join.js', import.meta.url));
  const {status, stderr} = spawnSync(process.execPath, ['--import', old, join, 'http://127.0.0.1:9'], {encoding: 'utf8', timeout: 60000});
  assert.equal(status, 1);
  assert.match(stderr, /join: expected Node 20.10 or newer, which has WebSocket, got v/);
});
