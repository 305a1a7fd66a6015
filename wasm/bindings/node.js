// SPDX-License-Identifier: MIT
// Defines the names that Emscripten's code expects in Node and that an ES module does not have.
const nodeModule = 'node:module';
const require =
  globalThis.process?.versions?.node && (await import(/* @vite-ignore */ nodeModule)).createRequire(import.meta.url);
const __filename = require && require('url').fileURLToPath(import.meta.url);
const __dirname = require && require('path').dirname(__filename);
