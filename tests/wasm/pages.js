// SPDX-License-Identifier: MIT
// Runs the C++ tests in the browsers: pages.js FOLDER_OF_PROGRAMS SOURCE_FOLDER [SECONDS]
// Each program runs in its own page and must end within SECONDS (600). The page's file system has the tests' files at
// their paths.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { browsers, open, without } from './wasm/test/browsers.js';
import { ISOLATED, serve } from './wasm/test/serve.js';

const [folder, source, seconds = '600'] = process.argv.slice(2);
const programs = readdirSync(folder).filter((name) => /^\w+_tests_page\.js$/.test(name));
if (programs.length === 0) throw new Error(`[pages] expected programs NAME_tests_page.js in ${folder}, got none`);
const args = [
  ...readFileSync(join(folder, 'arguments.txt'), 'utf8').trim().split('\n'),
  '--no-skipped-summary',
  '--no-intro',
  '--no-colors',
];

function filesIn(path) {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const file = join(path, entry.name);
    if (entry.isDirectory()) return filesIn(file);
    return /\.(cc|h|py|sh|js)$/.test(file) ? [] : [[file, readFileSync(file, 'base64')]];
  });
}
const files = JSON.stringify(
  ['docs', 'models', 'tests/matrix/ops/numpy', 'tests/nn', 'tests/reference'].flatMap((name) =>
    filesIn(join(source, name)),
  ),
);

/** Runs in the page. Returns the program's output and its status. */
async function run({ program, args }) {
  const files = await (await fetch('/files')).json(),
    lines = [];
  const status = await new Promise((resolve) => {
    globalThis.Module = {
      arguments: args,
      print: (line) => lines.push(line),
      printErr: (line) => lines.push(line),
      preRun: [
        () => {
          for (const [path, text] of files) {
            FS.mkdirTree(path.slice(0, path.lastIndexOf('/')));
            FS.writeFile(
              path,
              Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)),
            );
          }
        },
      ],
      onExit: resolve,
      onAbort: (what) => resolve(`aborted: ${what}`),
    };
    globalThis.addEventListener('error', ({ message }) => resolve(message));
    document.head.append(Object.assign(document.createElement('script'), { src: program }));
  });
  return { status, output: lines.join('\n') };
}

/** Limits the time of a page, which could otherwise wait forever. */
async function soon(program, running) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`[pages] expected ${program} to end within ${seconds} s`)),
      1000 * seconds,
    );
  });
  try {
    return await Promise.race([running, late]);
  } catch (error) {
    console.error(`${program}: ${error.message}`);
    process.exit(1); // also ends the browser, which may not answer
  } finally {
    clearTimeout(timer);
  }
}

const server = await serve(({ url }, response) => {
  for (const [name, value] of Object.entries(ISOLATED)) response.setHeader(name, value);
  if (url === '/files') return void response.end(files);
  if (url !== '/') return new URL(pathToFileURL(folder) + url);
  response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>tests</title>');
});
if (without) console.log(`SKIPPED: the C++ tests in Firefox: ${without}`);
for (const name of browsers) {
  const browser = await open(name);
  for (const program of programs) {
    const start = performance.now(),
      { status, output } = await soon(program, browser.inPage(server.url, run, { program, args }));
    console.log(
      `${name} ${program}: status ${status}, ${((performance.now() - start) / 1000).toFixed(1)} s\n${output}`,
    );
    if (status !== 0) process.exitCode = 1;
  }
  await browser.close();
}
server.close();
