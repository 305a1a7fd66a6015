// SPDX-License-Identifier: MIT
// The page and the native command, if there is one. The command serves the page, and both read each other's weights.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { command, serveByCommand } from './command.js';
import { PAGE, launch, open, press, until } from './page.js';
import { serve } from './server.js';

const kaiseki = async (...args) => (await promisify(execFile)(command, [...args, '--device', 'cpu'])).stdout;
const lenet = fileURLToPath(new URL('../../models/lenet-dag.json', import.meta.url));

test('the measurement of the first step names the missing variable', async () => {
  const script = fileURLToPath(new URL('first_step.js', import.meta.url));
  const { KAISEKI_COMMAND, ...env } = process.env;
  await assert.rejects(
    promisify(execFile)(process.execPath, [script], { env }),
    /expected .* in KAISEKI_COMMAND, got nothing/,
  );
});

test(
  "the page and the command read each other's weights",
  { skip: !existsSync(command) && 'no native command' },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kaiseki-'));
    const server = await serve({ '/': PAGE });
    const browser = await launch();
    try {
      const page = await open(browser, server.address);
      const native = join(folder, 'native.safetensors');
      await kaiseki('train', lenet, '--data', 'digits:2000', '--epochs', '2', '--save', native);
      await page.getByLabel('Weights file').setInputFiles(native);
      const given = await until(page, 'Test accuracy', (value) => value >= 80);

      const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Save')]);
      const saved = join(folder, 'page.safetensors');
      await download.saveAs(saved);
      const told = JSON.parse(await kaiseki('eval', lenet, '--weights', saved, '--data', 'digits:5000:0', '--json'));
      assert.ok(Math.abs(100 * told.top1 - given) < 0.3, `${JSON.stringify(told)}, ${given}`);
    } finally {
      await browser.close();
      await server.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
);

test('the command serves the page', { skip: !existsSync(command) && 'no native command' }, async () => {
  const server = await serveByCommand();
  const browser = await launch();
  try {
    const page = await open(browser, server.address);
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    await press(page, 'Start');
    await until(page, 'Test accuracy', (value) => value > 0);
    await page.getByText('Works offline').waitFor();
    assert.deepEqual(page.problems, []);
  } finally {
    await browser.close();
    assert.equal(await server.close(), 0);
  }
});
