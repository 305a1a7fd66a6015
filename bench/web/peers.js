// SPDX-License-Identifier: MIT
// The cases of each peer and its thread counts in each place. T: the matrix tasks. N: the networks.
const plain = { cases: 'T', threads: { node: [1], chromium: [1] } };
export const PEERS = {
  'plain loops': { ...plain, side: 'plain' },
  'tfjs cpu': { ...plain, cases: 'TN', side: 'tfjs', backend: 'cpu' },
  // In Node its wasm backend has no threads. In a page it uses half of the reported cores.
  'tfjs wasm': {
    cases: 'TN',
    side: 'tfjs',
    backend: 'wasm',
    threads: { node: [1], chromium: [1, 2] },
    coresForAThread: 2,
  },
  // Chromium's software renderer uses all cores
  'tfjs webgl': { cases: 'TN', side: 'tfjs', backend: 'webgl', threads: { chromium: [2] } },
  'tfjs webgpu': { cases: 'TN', side: 'tfjs', backend: 'webgpu', threads: { chromium: [2] } }, // see tfjs webgl
  'onnxruntime-web': { cases: 'T', side: 'onnxruntime', threads: { node: [1, 2], chromium: [1, 2] } },
  'jax-js': { cases: 'T', side: 'jax', threads: { node: [1], chromium: [1, 2] } },
  ConvNetJS: { ...plain, cases: 'N', side: 'convnetjs' },
  'Math.js': { ...plain, side: 'mathjs' },
  Sylvester: { ...plain, side: 'sylvester' },
  'ml-matrix': { ...plain, side: 'ml-matrix' },
};
