// SPDX-License-Identifier: MIT
// Compares Kaiseki with peers from npm, in Node and in headless Chromium, on matrix tasks and on training two networks:
//   bench.js [--places node,chromium] [--threads 1,2] [--cases T1,...,lenet,cifar] [--peers NAME,...] [--pairs 5]
// Each peer runs in its own process or page. run.sh installs the packages that this needs.
import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { median } from './measure.js';
import { PEERS } from './peers.js';
import { ISOLATED, serve } from './serve.js';
import { NETWORKS, TASKS } from './tasks.js';

const { values: options } = parseArgs({
  options: {
    places: { type: 'string', default: 'node,chromium' },
    threads: { type: 'string', default: '1,2' },
    cases: { type: 'string', default: [...Object.keys(TASKS), ...Object.keys(NETWORKS)].join() },
    peers: { type: 'string', default: Object.keys(PEERS).join() },
    pairs: { type: 'string', default: '5' },
    'task-window': { type: 'string', default: '150' },
    'train-window': { type: 'string', default: '600' },
  },
});
const MINUTE = 60000;
const folder = new URL('./', import.meta.url);

const IMPORTS = { 'kaiseki/sync': '/node_modules/kaiseki/src/sync.js' };
const PAGE = `<!doctype html><title>bench</title><script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>`;

async function bundle() {
  const both = {
    bundle: true,
    logLevel: 'error',
    outdir: 'bundles',
    legalComments: 'none',
    absWorkingDir: folder.pathname.slice(0, -1),
  };
  const external = ['kaiseki/sync', 'lapack'];
  await build({
    ...both,
    entryPoints: ['node.js'],
    platform: 'node',
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    external: [...external, 'onnxruntime-web'],
  });
  await build({
    ...both,
    entryPoints: ['measure.js'],
    platform: 'browser',
    format: 'esm',
    alias: { fs: './sides/no-files.js' },
    define: { global: 'globalThis' },
    external: [
      ...external,
      'path',
      'util',
      'os',
      'perf_hooks',
      'worker_threads',
      'string_decoder',
      'node:*',
      'module',
      'crypto',
    ],
  });
}

async function inNode(spec) {
  const { stdout } = await promisify(execFile)('node', ['bundles/node.cjs', JSON.stringify(spec)], {
    cwd: folder,
    maxBuffer: 1 << 24,
  });
  return JSON.parse(stdout);
}

/** Opens a new page and sets its number of cores to the peer's number of threads. */
async function inPage({ browser, url }, spec) {
  const context = await browser.newContext(),
    page = await context.newPage();
  try {
    await page.addInitScript(
      (cores) => Object.defineProperty(navigator, 'hardwareConcurrency', { get: () => cores }),
      spec.threads * (spec.peer.coresForAThread ?? 1),
    );
    await page.goto(url);
    return await page.evaluate(async (given) => {
      const { measure } = await import('/bundles/measure.js');
      return measure(given, {
        threads: given.threads,
        node: false,
        packages: '/node_modules',
        readText: async (path) => (await fetch('/' + path)).text(),
      });
    }, spec);
  } finally {
    await context.close();
  }
}

async function startBrowser() {
  const server = await serve(({ url }, response) => {
    for (const [name, value] of Object.entries(ISOLATED)) response.setHeader(name, value);
    const { pathname } = new URL(url, 'http://localhost');
    if (pathname !== '/') return new URL('.' + pathname, folder);
    response.setHeader('Content-Type', 'text/html').end(PAGE);
  });
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--enable-unsafe-swiftshader', '--enable-unsafe-webgpu'],
  });
  return { url: server.url, browser, close: () => browser.close().then(() => server.close()) };
}

function row(place, name, peer, threads, { ours, theirs }) {
  const training = Boolean(NETWORKS[name]),
    figure = (times) => (training ? MINUTE / median(times) : median(times));
  const round = (value) => Number(value.toPrecision(4));
  return {
    bench: 'web',
    case: `${place} ${name}`,
    peer,
    threads,
    ours: round(figure(ours)),
    theirs: round(figure(theirs)),
    unit: training ? 'batches/min' : 'ms',
    ratio: round(median(ours.map((our, i) => theirs[i] / our))),
  };
}

/** Prints a table with one line for each peer, the fastest first. */
function print(rows) {
  rows.sort((a, b) => a.ratio - b.ratio);
  if (!process.stdout.isTTY) for (const line of rows) console.log(JSON.stringify(line));
  else console.table(rows, ['case', 'peer', 'threads', 'ours', 'theirs', 'unit', 'ratio']);
}

const list = (text) => text.split(',');
await bundle();
for (const place of list(options.places)) {
  const browser = place === 'chromium' && (await startBrowser());
  for (const threads of list(options.threads).map(Number)) {
    const rows = [];
    for (const label of list(options.peers)) {
      const peer = PEERS[label];
      if (!peer) throw new Error(`[bench] expected a peer of ${Object.keys(PEERS).join(', ')}, got ${label}`);
      const cases = list(options.cases).filter((name) => peer.cases.includes(NETWORKS[name] ? 'N' : 'T'));
      if (!cases.length || !peer.threads[place]?.includes(threads)) continue;
      const spec = {
        peer,
        label,
        cases,
        threads,
        pairs: Number(options.pairs),
        taskWindow: Number(options['task-window']),
        trainWindow: Number(options['train-window']),
      };
      try {
        const found = browser ? await inPage(browser, spec) : await inNode(spec);
        for (const name of cases) rows.push(row(place, name, label, threads, found[name]));
      } catch (error) {
        console.error(`left out: ${place} ${label} with ${threads} threads: ${error.stderr || error.message}`);
        process.exitCode = 1;
      }
    }
    for (const name of list(options.cases)) print(rows.filter((line) => line.case === `${place} ${name}`));
  }
  await (browser && browser.close());
}
