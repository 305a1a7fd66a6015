// SPDX-License-Identifier: MIT
// The package in headless browsers, served as plain files under a content security policy. Results must have the same
// bits as in Node: with and without threads, in the page and in the worker.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { load as loadClient } from 'kaiseki';
import { load } from 'kaiseki/sync';
import { browsers, open, without } from './browsers.js';
import { ISOLATED, serve } from './serve.js';
import { hashes, trainedInWorker } from './same.js';

const project = new URL('../../', import.meta.url);
const lenet = await readFile(new URL('models/lenet-dag.json', project), 'utf8');
const PAGE = `<!doctype html><title>kaiseki</title>
<script type="importmap">{"imports": {"kaiseki": "/node_modules/kaiseki/src/index.js", "kaiseki/sync": "/node_modules/kaiseki/src/sync.js"}}</script>`;
// Added to the package's scripts: a synchronous request would block the page or worker.
const NO_REQUESTS = `globalThis.XMLHttpRequest = class { constructor() { throw new Error('XMLHttpRequest'); } };\n`;
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'";

if (without) test('in Firefox', { skip: without }, () => {});

for (const name of browsers)
  describe(`in ${name}`, () => {
    let server,
      browser,
      missing,
      spared = 0;
    before(async () => {
      server = await serve(({ url }, response) => {
        const { pathname } = new URL(url, 'http://localhost');
        if (pathname !== '/') for (const [name, value] of Object.entries(ISOLATED)) response.setHeader(name, value);
        response.setHeader(
          'Content-Security-Policy',
          pathname === '/strict' ? POLICY : "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'",
        );
        if (missing && pathname.endsWith(missing) && spared-- <= 0) return void response.writeHead(404).end();
        if (/^\/node_modules\/kaiseki\/.*\.m?js$/.test(pathname))
          return void response
            .setHeader('Content-Type', 'text/javascript')
            .end(NO_REQUESTS + readFileSync(new URL('.' + pathname, project)));
        if (pathname.includes('.')) return new URL('.' + pathname, project);
        response.setHeader('Content-Type', 'text/html').end(pathname === '/strict' ? '<!doctype html>' : PAGE);
      });
      browser = await open(name);
    });
    after(async () => {
      await browser?.close();
      server?.close();
    });

    const inPage = (path, body, argument) => browser.inPage(server.url + path, body, argument);

    for (const [path, threads, given] of [
      ['/', 2, 1],
      ['/isolated', 1, 1],
      ['/isolated', 2, 2],
      ['/isolated', 4, 4],
    ])
      test(`${path} with ${threads} threads`, async () => {
        const kaiseki = await load({ threads: 1 });
        const found = await inPage(
          path,
          async ([json, threads]) => {
            const { load } = await import('kaiseki/sync');
            const { hashes } = await import('/wasm/test/same.js');
            const kaiseki = await load({ threads });
            return { threads: kaiseki.threads, hashes: await hashes(kaiseki, json) };
          },
          [lenet, threads],
        );
        assert.deepEqual(found, { threads: given, hashes: await hashes(kaiseki, lenet) });
        kaiseki.close();
      });

    for (const [path, threads] of [
      ['/', 1],
      ['/isolated', 2],
      ['/strict', 2],
    ])
      test(`${path}: trains in the worker, reads a picture and a file`, async () => {
        const kaiseki = await loadClient({ threads: 1 });
        const found = await inPage(
          path,
          async (json) => {
            const { load } = await import('/node_modules/kaiseki/src/index.js');
            const { trainedInWorker } = await import('/wasm/test/same.js');
            const kaiseki = await load({ threads: 2 });
            const picture = await kaiseki.picture('jpeg/half_color.jpg', { width: 20, height: 9 });
            const stop = new AbortController(),
              refused = [];
            const trained = await trainedInWorker(kaiseki, json);
            const keep = (error) => refused.push(`${error.name} ${error.kind}`);
            await kaiseki.picture('nowhere.jpg', { width: 1, height: 1 }).catch(keep);
            const { finished } = kaiseki.train(
              await kaiseki.network(json),
              await kaiseki.optimizer(),
              await kaiseki.digits(),
              { signal: stop.signal, onStep: () => stop.abort() },
            );
            await finished.catch(keep);
            const large = [];
            for (let room = true; room;)
              await kaiseki.empty([256 << 18]).then(
                (tensor) => large.push(tensor),
                (error) => {
                  room = false;
                  keep(error);
                },
              );
            const { heap } = await kaiseki.memory();
            for (const tensor of large) tensor.dispose();
            const values = Array.from(await picture.toTypedArray());
            kaiseki.close();
            await picture.sum().catch(keep);
            const again = await load({ threads: 1 });
            return {
              threads: kaiseki.threads,
              trained,
              values,
              refused,
              heap,
              item: await (await again.tensor([5])).item(),
            };
          },
          lenet,
        );
        const picture = await kaiseki.picture(new Uint8Array(await readFile(new URL('jpeg/half_color.jpg', project))), {
          width: 20,
          height: 9,
        });
        const { heap, ...results } = found;
        assert.ok(heap > 3.2e9, `${heap} bytes`);
        assert.deepEqual(results, {
          threads,
          trained: await trainedInWorker(kaiseki, lenet),
          values: Array.from(await picture.toTypedArray()),
          refused: ['KaisekiError Error', 'AbortError undefined', 'KaisekiError OutOfMemory', 'KaisekiError Closed'],
          item: 5,
        });
        kaiseki.close();
      });

    test("makes the worker's threads in the page", async () => {
      assert.equal(
        await inPage('/isolated', async () => {
          const { load } = await import('kaiseki');
          let made = 0;
          globalThis.Worker = class extends Worker {
            constructor(...args) {
              super(...args);
              ++made;
            }
          };
          (await load({ threads: 3 })).close();
          return made;
        }),
        3,
      );
    });

    test('ends the worker when a thread traps in a product', { timeout: 120000 }, async () => {
      const found = await inPage('/isolated', async () => {
        const { load } = await import('kaiseki');
        globalThis.Worker = class extends Worker {
          constructor(script, options) {
            super(`${script}`.includes('threads') ? '/wasm/test/trap_thread.js' : script, options);
          }
        };
        const kaiseki = await load({ threads: 2 }),
          x = await kaiseki.tensor(new Float32Array(1e6), [1000, 1000]);
        try {
          for (;;) await Promise.all([x.matmul(x), x.add(x)]);
        } catch (error) {
          return [error.kind, error.message, (await kaiseki.closed).kind];
        }
      });
      assert.deepEqual([found[0], found[2]], ['Closed', 'Closed']);
      assert.match(found[1], /^\[worker\] expected a running worker, got its end \(a thread failed: .+\)/);
    });

    // The last file is served once, for the worker. The thread's request fails.
    for (const [file, times] of [
      ['/worker.js', 0],
      ['/kaiseki.mjs', 0],
      ['/kaiseki.wasm', 0],
      ['/kaiseki-threads.worker.js', 0],
      ['/kaiseki-threads.mjs', 1],
    ])
      test(`load() names ${file} when it is missing`, async () => {
        [missing, spared] = [file, times];
        const found = await inPage(
          '/isolated',
          async (threads) => {
            const { load } = await import('kaiseki');
            return load({ threads }).then(
              () => 'loaded',
              (error) => `${error.name}: ${error.message}`,
            );
          },
          file.includes('threads') ? 2 : 1,
        );
        missing = undefined;
        assert.match(found, /^KaisekiError: /);
        // Browsers do not say which file stopped a worker. For a thread, the error names its first script.
        if (times) assert.match(found, /kaiseki-threads\.worker\.js/);
        else if (file !== '/worker.js') assert.ok(found.includes(file), found);
      });
  });
