// SPDX-License-Identifier: MIT
// Tests that tests/wasm/pages.js and tests/web/run.sh end with an error if a program or browser is missing or does not
// answer.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs pages.js on these programs, with a browser whose pages never answer. */
function runPages(t, programs) {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ['wasm/test', 'pages']) mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['docs', 'models', 'tests/matrix/ops/numpy', 'tests/nn', 'tests/reference'])
    mkdirSync(join(folder, 'source', name), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  cpSync(join(root, 'tests/wasm/pages.js'), join(folder, 'pages.js'));
  cpSync(join(root, 'wasm/test/serve.js'), join(folder, 'wasm/test/serve.js'));
  writeFileSync(
    join(folder, 'wasm/test/browsers.js'),
    `export const browsers = ['chromium'], without = undefined;
    export const open = async () => ({inPage: () => new Promise(() => {}), close: () => new Promise(() => {})});`,
  );
  writeFileSync(join(folder, 'pages/arguments.txt'), '--help\n');
  for (const name of programs) writeFileSync(join(folder, 'pages', name), '');
  return spawnSync(process.execPath, ['pages.js', 'pages', 'source', '0.2'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 5000,
  });
}

test('names a program that does not end', (t) => {
  const { status, stderr } = runPages(t, ['nn_tests_page.js']);
  assert.equal(status, 1);
  assert.match(stderr, /expected nn_tests_page.js to end within 0.2 s/);
});

test('fails when there is no program', (t) => {
  const { status, stderr } = runPages(t, []);
  assert.equal(status, 1);
  assert.match(stderr, /expected programs NAME_tests_page.js in pages, got none/);
});

test('names a missing command before the build', () => {
  const { status, stderr } = spawnSync('bash', [join(root, 'tests/web/run.sh'), tmpdir()], {
    encoding: 'utf8',
    timeout: 5000,
    env: { ...process.env, KAISEKI_COMMAND: '/nowhere/kaiseki' },
  });
  assert.equal(status, 1);
  assert.match(stderr, /expected KAISEKI_COMMAND to be a program, got \/nowhere\/kaiseki/);
});
