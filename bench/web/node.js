// SPDX-License-Identifier: MIT
// Measures one peer in a Node process: node.cjs SPEC prints {case: {ours, theirs}}. build.js bundles it.
import { readFile } from 'node:fs/promises';
import { measure } from './measure.js';

const spec = JSON.parse(process.argv[2]);
measure(spec, {
  threads: spec.threads,
  node: true,
  packages: `${process.cwd()}/node_modules`,
  readText: (path) => readFile(path, 'utf8'),
  readBytes: (path) => readFile(path),
}).then(
  (found) => {
    process.stdout.write(JSON.stringify(found), () => process.exit());
  },
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
