// SPDX-License-Identifier: MIT
// Serves files to a browser, on the loopback device.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname } from 'node:path';

const TYPES = {
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
  '.html': 'text/html',
};

export const ISOLATED = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

/** Calls `answer(request, response)`, which may return the URL of a file to send. */
export async function serve(answer) {
  const server = createServer(async (request, response) => {
    const file = await answer(request, response);
    if (!file) return;
    try {
      response.setHeader('Content-Type', TYPES[extname(file.pathname)] ?? 'application/octet-stream');
      response.end(await readFile(file));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
