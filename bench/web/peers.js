// SPDX-License-Identifier: MIT
// Who can do what, where: T are the tasks, N the networks; the numbers of threads for each place.
const plain = { cases: 'T', threads: { node: [1], chromium: [1] } };
export const PEERS = {
  'plain loops': { ...plain, side: 'plain' },
  'tfjs cpu': { ...plain, cases: 'TN', side: 'tfjs', backend: 'cpu' },
  // In Node its backend wasm has no threads. In a page it uses half of the cores that it is told of.
  'tfjs wasm': { cases: 'TN', side: 'tfjs', backend: 'wasm', threads: { node: [1], chromium: [1, 2] }, coresForAThread: 2 },
  'tfjs webgl': { cases: 'TN', side: 'tfjs', backend: 'webgl', threads: { chromium: [2] } },  // drawn by all cores
  'tfjs webgpu': { cases: 'TN', side: 'tfjs', backend: 'webgpu', threads: { chromium: [2] } },  // likewise
  'onnxruntime-web': { cases: 'T', side: 'onnxruntime', threads: { node: [1, 2], chromium: [1, 2] } },
  'jax-js': { cases: 'T', side: 'jax', threads: { node: [1], chromium: [1, 2] } },
  ConvNetJS: { ...plain, cases: 'N', side: 'convnetjs' },
  'Math.js': { ...plain, side: 'mathjs' },
  Sylvester: { ...plain, side: 'sylvester' },
  'ml-matrix': { ...plain, side: 'ml-matrix' },
};
