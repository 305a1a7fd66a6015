// SPDX-License-Identifier: MIT
// Offline use: the service worker, and the build step that completes it.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { complete } from '../vite.config';

/** Returns the files and the version in the service worker of a built page. */
async function built(page: string, script: string, picture: string): Promise<[files: string[], version: string]> {
  const folder = await mkdtemp(join(tmpdir(), 'kaiseki-'));
  try {
    for (const name of ['assets', 'console', 'playground']) await mkdir(join(folder, name));
    const files = {
      'index.html': page,
      'assets/page-1.js': script,
      'icon.svg': picture,
      'console/index.html': '',
      'playground/index.html': '',
      'sw.js': '[__FILES__, __VERSION__]',
    };
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    await complete(folder);
    expect(await readFile(join(folder, 'assets/page-1.js'), 'utf8')).toMatch(/trustedTypes/);
    return JSON.parse(await readFile(join(folder, 'sw.js'), 'utf8'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('any change of a file changes the version', async () => {
  const [files, version] = await built('<html>', '1', '<svg>');
  expect(files).toEqual(['/assets/page-1.js', '/icon.svg', '/', '/playground/']);
  expect(await built('<html>', '1', '<svg>')).toEqual([files, version]);
  const others = [
    await built('<html lang="en">', '1', '<svg>'),
    await built('<html>', '2', '<svg>'),
    await built('<html>', '1', '<svg id="a">'),
  ];
  expect(new Set([version, ...others.map(([, other]) => other)]).size).toBe(4);
});

afterEach(() => vi.unstubAllGlobals());

test('caches files from the server, and serves them when it is offline', async () => {
  const listeners = new Map<string, (event: object) => void>(),
    kept: unknown[] = [];
  vi.stubGlobal('__FILES__', ['/', '/icon.svg', '/playground/']);
  vi.stubGlobal('__VERSION__', '1');
  vi.stubGlobal('self', {
    addEventListener: (name: string, body: () => void) => listeners.set(name, body),
    skipWaiting() {},
  });
  vi.stubGlobal('location', { origin: 'http://localhost' });
  vi.stubGlobal(
    'Request',
    class {
      constructor(
        readonly url: string,
        readonly options: object,
      ) {}
    },
  );
  vi.stubGlobal('caches', {
    open: async () => ({ addAll: async (requests: unknown[]) => kept.push(...requests) }),
    match: async (file: string) => `kept ${file}`,
  });
  vi.stubGlobal('fetch', async () => {
    throw new TypeError('no network');
  });
  await import('../src/sw');
  await new Promise((resolve) => listeners.get('install')!({ waitUntil: resolve }));
  expect(kept).toEqual(['/', '/icon.svg', '/playground/'].map((url) => ({ url, options: { cache: 'no-cache' } })));
  const answer = (path: string) =>
    new Promise((resolve) => {
      listeners.get('fetch')!({ request: { method: 'GET', url: `http://localhost${path}` }, respondWith: resolve });
      resolve('not answered');
    });
  expect(await Promise.all(['/', '/index.html', '/icon.svg?a', '/playground/index.html', '/api'].map(answer))).toEqual([
    'kept /',
    'kept /',
    'kept /icon.svg',
    'kept /playground/',
    'not answered',
  ]);
});
