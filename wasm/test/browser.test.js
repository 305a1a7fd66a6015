// SPDX-License-Identifier: MIT
// The package in headless Chromium, as files on a plain server: the same bits as in Node, with threads and without.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { load } from 'kaiseki';
import { chromium } from 'playwright-core';
import { hashes } from './same.js';

const project = new URL('../../', import.meta.url);
const lenet = await readFile(new URL('models/lenet-dag.json', project), 'utf8');
const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };
const PAGE = `<!doctype html><title>kaiseki</title>
<script type="importmap">{"imports": {"kaiseki": "/node_modules/kaiseki/src/index.js"}}</script>`;

/** Serves the project; under /isolated the page may share memory. */
function serve() {
  return createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    if (pathname === '/isolated') response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Content-Type', TYPES[extname(pathname)] ?? 'text/html');
    try {
      response.end(extname(pathname) ? await readFile(new URL('.' + pathname, project)) : PAGE);
    } catch {
      response.writeHead(404).end();
    }
  });
}

describe('in Chromium', () => {
  let server, browser, expected;
  before(async () => {
    server = serve().listen(0, '127.0.0.1');
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
    const kaiseki = await load({ threads: 1 });
    expected = await hashes(kaiseki, lenet);
  });
  after(async () => {
    await browser?.close();
    server.close();
    server.closeAllConnections();
  });

  for (const [path, threads, given] of [['/', 2, 1], ['/isolated', 1, 1], ['/isolated', 2, 2], ['/isolated', 4, 4]])
    test(`${path} with ${threads} threads`, async () => {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${server.address().port}${path}`);
      const found = await page.evaluate(async ([json, threads]) => {
        const { load } = await import('kaiseki');
        const { hashes } = await import('/wasm/test/same.js');
        const kaiseki = await load({ threads });
        return { threads: kaiseki.threads, hashes: await hashes(kaiseki, json) };
      }, [lenet, threads]);
      assert.deepEqual(found, { threads: given, hashes: expected });
      await page.close();
    });
});
