// SPDX-License-Identifier: MIT
// A blank Vite project (tests/wasm/vite) with the package: built, and from Vite's development server.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { ISOLATED, serve } from './serve.js';

const root = new URL('../../../vite/', import.meta.url);

describe('a Vite project', () => {
  let browser;
  before(async () => {
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  });
  after(() => browser?.close());

  async function check(url, threads) {
    const page = await browser.newPage(),
      errors = [];
    page.on('pageerror', (error) => errors.push(error));
    await page.goto(url);
    await page
      .waitForFunction(() => document.querySelector('output')?.textContent)
      .catch((error) => errors.push(error));
    assert.deepEqual(errors, []);
    const found = JSON.parse(await page.textContent('output'));
    assert.deepEqual([found.threads, found.clusters, found.sum], [threads, 2, 45]);
    assert.ok(found.accuracy > 0.9, `accuracy ${found.accuracy}`);
    await page.close();
  }

  for (const [isolated, threads] of [
    [true, 2],
    [false, 1],
  ])
    test(`built; threads: ${threads}`, async () => {
      const server = await serve(({ url }, response) => {
        if (isolated) for (const [name, value] of Object.entries(ISOLATED)) response.setHeader(name, value);
        return new URL(`dist${url === '/' ? '/index.html' : url}`, root);
      });
      await check(server.url, threads);
      server.close();
    });

  test('the project of docs/guides/page.md', async () => {
    const server = await serve(({ url }) => new URL(`../guide/dist${url === '/' ? '/index.html' : url}`, root));
    const page = await browser.newPage();
    await page.goto(server.url);
    await page.waitForFunction(() => document.querySelector('output')?.textContent);
    const [, accuracy] = (await page.textContent('output')).match(/^([\d.]+) %$/);
    assert.ok(Number(accuracy) > 90, `${accuracy} %`);
    await page.close();
    server.close();
  });

  test('served by Vite', async () => {
    const vite = await import(pathToFileURL(createRequire(new URL('main.js', root)).resolve('vite')));
    for (const threads of [2, 1]) {
      const headers = threads > 1 ? ISOLATED : {};
      const server = createServer((request, response) => project.middlewares(request, response));
      const project = await vite.createServer({
        root: root.pathname,
        logLevel: 'error',
        server: { middlewareMode: true, hmr: { server }, headers },
      });
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
      await check(`http://127.0.0.1:${server.address().port}/`, threads);
      server.close();
      server.closeAllConnections();
      await project.close();
    }
  });
});
