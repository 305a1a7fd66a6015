// SPDX-License-Identifier: MIT
// Measures pairs of windows in Node and in pages: Kaiseki and the peer directly after each other. A window's figure is
// its median call.
import { batchOf, compare, expected, inputsOf, NETWORKS } from './tasks.js';

const SIDES = {
  convnetjs: () => import('./sides/convnetjs.js'),
  jax: () => import('./sides/jax.js'),
  kaiseki: () => import('./sides/kaiseki.js'),
  mathjs: () => import('./sides/mathjs.js'),
  'ml-matrix': () => import('./sides/ml-matrix.js'),
  onnxruntime: () => import('./sides/onnxruntime.js'),
  plain: () => import('./sides/plain.js'),
  sylvester: () => import('./sides/sylvester.js'),
  tfjs: () => import('./sides/tfjs.js'),
};
// In milliseconds. A case slower than SLOW is called once a window. Threads need a rest between windows. In Chromium,
// onnxruntime-web's threads poll for up to 90 ms after a call. Without a rest they would take a core from the next
// side.
const SLOW = 2000,
  REST = 150;
const SLOW_PAIRS = 3; // at most

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b),
    half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

async function call(run) {
  const start = performance.now();
  let result = run();
  if (result?.then) result = await result;
  return [performance.now() - start, result];
}

async function window(run, milliseconds) {
  const end = performance.now() + milliseconds,
    times = [];
  do times.push((await call(run))[0]);
  while (performance.now() < end);
  return median(times);
}

/** Calls again if the first call was slow, because the first call compiles and allocates. */
const again = async (run, first) => (first > SLOW ? (await call(run))[0] : first);

/** Prepares a case and checks its first result. Returns the call to measure, and whether it is slow. */
async function prepare(name, side, label) {
  if (NETWORKS[name]) {
    const step = await side.train(name, batchOf(name)),
      losses = [];
    const keep = (loss) => {
      losses.push(loss);
      if (!Number.isFinite(loss)) throw new Error(`[${label}] expected a finite loss of ${name}, got ${loss}`);
    };
    const run = () => {
      const loss = step();
      return loss.then ? loss.then(keep) : keep(loss);
    };
    const [first] = await call(run);
    const check = () => {
      if (losses.length > 1 && !(losses.at(-1) < losses[0]))
        throw new Error(
          `[${label}] expected the loss of ${name} to fall from ${losses[0]}, got ${losses.at(-1)} after ${losses.length} steps`,
        );
    };
    return { run, slow: (await again(run, first)) > SLOW, check };
  }
  const inputs = inputsOf(name),
    { run, values } = await side.task(name, inputs),
    [first, results] = await call(run);
  compare(`${label} ${name}`, values(results), expected(name, inputs));
  return { run, slow: (await again(run, first)) > SLOW, check() {} };
}

/**
 * Measures both sides in pairs and returns milliseconds: {case: {ours, theirs}}. `options` go to open() of both sides.
 */
export async function measure({ peer, label, cases, pairs, taskWindow, trainWindow }, options, sides = SIDES) {
  const ours = await (await sides.kaiseki()).open(options),
    found = {};
  const theirs = await (await sides[peer.side]()).open({ ...options, backend: peer.backend });
  const rest = () => new Promise((done) => setTimeout(done, REST));
  for (const name of cases) {
    const left = await prepare(name, ours, 'kaiseki'),
      right = await prepare(name, theirs, label);
    const length = NETWORKS[name] ? trainWindow : taskWindow,
      runs = [];
    for (let i = 0; i < (right.slow ? Math.min(pairs, SLOW_PAIRS) : pairs); ++i) {
      await rest();
      const our = await window(left.run, length);
      await rest();
      runs.push([our, await window(right.run, right.slow ? 0 : length)]);
    }
    (left.check(), right.check());
    found[name] = { ours: runs.map(([our]) => our), theirs: runs.map(([, their]) => their) };
  }
  return found;
}
