// SPDX-License-Identifier: MIT
import { createHash } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { defineConfig } from 'vite';

/** Pages that need a coordinator. They are not kept for use offline. */
const NEEDS_COORDINATOR = /^(volunteer|console|mandelbrot)\//;

/** Adds a trusted types policy to the scripts that start workers: it allows only scripts of this server. */
async function trust(folder: string): Promise<void> {
  const policy = `globalThis.trustedTypes?.createPolicy('default', {createScriptURL(url) {
    if (new URL(url, location.href).origin === location.origin) return url;
    throw new TypeError('expected a script of this server, got ' + url);
  }});\n`;
  for (const name of await readdir(join(folder, 'assets')))
    if (/^(page|playground|volunteer|console|worker|training_worker|.*\.worker)-.*\.js$/.test(name)) {
      const script = join(folder, 'assets', name);
      await writeFile(script, policy + (await readFile(script, 'utf8')));
    }
}

/**
 * Completes sw.js, the service worker, with the names of all files of this build and a version. The version is a hash of
 * their contents.
 */
async function offline(folder: string): Promise<void> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((name) => name !== 'sw.js' && !NEEDS_COORDINATOR.test(name))
    .sort();
  const hash = createHash('sha256');
  for (const name of names) hash.update(`${name}\0`).update(await readFile(join(folder, name)));
  const files = names.map((name) => `/${name}`.replace(/\/index\.html$/, '/'));
  const script = join(folder, 'sw.js');
  await writeFile(
    script,
    (await readFile(script, 'utf8'))
      .replace('__FILES__', JSON.stringify(files))
      .replace('__VERSION__', JSON.stringify(hash.digest('hex').slice(0, 12))),
  );
}

/** Adds NAME.br to the files that Brotli makes smaller. `kaiseki serve` sends it to browsers that accept it. */
async function compress(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    if (!/\.(css|html|js|json|mjs|svg|wasm)$/.test(name)) continue;
    const bytes = await readFile(join(folder, name)),
      packed = brotliCompressSync(bytes);
    if (packed.length < bytes.length) await writeFile(join(folder, `${name}.br`), packed);
  }
}

/** Completes the built page in `folder`. offline() runs on the final files, because its version is their hash. */
export async function complete(folder: string): Promise<void> {
  await trust(folder);
  await offline(folder);
  await compress(folder);
}

export default defineConfig({
  base: '/',
  plugins: [{ name: 'complete', apply: 'build', writeBundle: ({ dir }) => complete(dir!) }],
  server: { fs: { allow: ['..'] } }, // the package, and models/
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    rollupOptions: {
      input: {
        page: 'index.html',
        playground: 'playground/index.html',
        volunteer: 'volunteer/index.html',
        console: 'console/index.html',
        mandelbrot: 'mandelbrot/index.html',
        sw: 'src/sw.ts',
      },
      output: { entryFileNames: (chunk) => (chunk.name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js') },
    },
  },
  // Only a failing test takes this long, even on a busy machine.
  test: { include: ['test/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 120_000 },
} as Parameters<typeof defineConfig>[0]);
