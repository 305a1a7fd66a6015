// SPDX-License-Identifier: MIT
// Pairs of windows, ours and the peer's one right after the other, in Node and in pages. A window's figure is its median call.
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
// Milliseconds: what takes so long is called once a window; threads fall asleep (onnxruntime-web's look for work for up to 90 ms after a call, seen in
// Chromium: with less rest they take a core from who is measured next).
const SLOW = 2000, REST = 150;
const SLOW_PAIRS = 3;  // at most

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

async function call(run) {
  const start = performance.now();
  let result = run();
  if (result?.then) result = await result;
  return [performance.now() - start, result];
}

async function window(run, milliseconds) {
  const end = performance.now() + milliseconds, times = [];
  do times.push((await call(run))[0]); while (performance.now() < end);
  return median(times);
}

/** A call that is not the first, which compiles and allocates: it is made only where the first was slow. */
const again = async (run, first) => (first > SLOW ? (await call(run))[0] : first);

/** Something to call for a case; its first result was checked. Gives whether a call is slow, too. */
async function prepare(name, side, label) {
  if (NETWORKS[name]) {
    const step = await side.train(name, batchOf(name)), losses = [];
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
        throw new Error(`[${label}] expected the loss of ${name} to fall from ${losses[0]}, got ${losses.at(-1)} after ${losses.length} steps`);
    };
    return { run, slow: await again(run, first) > SLOW, check };
  }
  const inputs = inputsOf(name), { run, values } = await side.task(name, inputs), [first, results] = await call(run);
  compare(`${label} ${name}`, values(results), expected(name, inputs));
  return { run, slow: await again(run, first) > SLOW, check() {} };
}

/** Milliseconds of both sides in pairs: {case: {ours, theirs}}. `options` are those of both sides' open(). */
export async function measure({ peer, label, cases, pairs, taskWindow, trainWindow }, options, sides = SIDES) {
  const ours = await (await sides.kaiseki()).open(options), found = {};
  const theirs = await (await sides[peer.side]()).open({ ...options, backend: peer.backend });
  const rest = () => new Promise((done) => setTimeout(done, REST));
  for (const name of cases) {
    const left = await prepare(name, ours, 'kaiseki'), right = await prepare(name, theirs, label);
    const length = NETWORKS[name] ? trainWindow : taskWindow, runs = [];
    for (let i = 0; i < (right.slow ? Math.min(pairs, SLOW_PAIRS) : pairs); ++i) {
      await rest();
      const our = await window(left.run, length);
      await rest();
      runs.push([our, await window(right.run, right.slow ? 0 : length)]);
    }
    left.check(), right.check();
    found[name] = { ours: runs.map(([our]) => our), theirs: runs.map(([, their]) => their) };
  }
  return found;
}
