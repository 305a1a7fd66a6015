// SPDX-License-Identifier: MIT
import { createHash } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

/** Pages that are nothing without a coordinator. */
const NEEDS_COORDINATOR = /^(volunteer|console)\//;

/** Completes sw.js, the service worker: with the names of all files of this build, and a version that they make. */
function offline(): Plugin {
  return {
    name: 'offline',
    apply: 'build',
    async writeBundle({ dir }) {
      const names = (await readdir(dir!, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
        .map((entry) => relative(dir!, join(entry.parentPath, entry.name)))
        .filter((name) => name !== 'sw.js' && !NEEDS_COORDINATOR.test(name)).sort();
      const files = names.map((name) => (name === 'index.html' ? '/' : `/${name}`));
      const version = createHash('sha256').update(files.join()).digest('hex').slice(0, 12);
      const script = join(dir!, 'sw.js');
      await writeFile(script, (await readFile(script, 'utf8'))
        .replace('__FILES__', JSON.stringify(files)).replace('__VERSION__', JSON.stringify(version)));
    },
  };
}

/** Scripts that start others: only this server's are trusted, where the page's policy asks for trusted types. */
function trust(): Plugin {
  const policy = `globalThis.trustedTypes?.createPolicy('default', {createScriptURL(url) {
    if (new URL(url, location.href).origin === location.origin) return url;
    throw new TypeError('expected a script of this server, got ' + url);
  }});\n`;
  return {
    name: 'trust',
    apply: 'build',
    async writeBundle({ dir }) {
      for (const name of await readdir(join(dir!, 'assets')))
        if (/^(page|volunteer|console|worker|training_worker|.*\.worker)-.*\.js$/.test(name)) {
          const script = join(dir!, 'assets', name);
          await writeFile(script, policy + await readFile(script, 'utf8'));
        }
    },
  };
}

export default defineConfig({
  base: '/',
  plugins: [trust(), offline()],
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    rollupOptions: {
      input: { page: 'index.html', volunteer: 'volunteer/index.html', console: 'console/index.html', sw: 'src/sw.ts' },
      output: { entryFileNames: (chunk) => (chunk.name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js') },
    },
  },
  // Only a failure takes as long, on however busy a machine.
  test: { include: ['test/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 120_000 },
} as Parameters<typeof defineConfig>[0]);
