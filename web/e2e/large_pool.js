// SPDX-License-Identifier: MIT
// A coordinator of a large pool that only answers the console's requests. `pool` has the answer for each path. A path
// without an answer gets status 404.
import { PAGE } from './page.js';
import { serve } from './server.js';

export const task = (id, project, more = {}) => ({
  task: id,
  project,
  name: `task ${id} of project ${project}`,
  state: 'running',
  function: '',
  module: 'm',
  priority: 0,
  verification: 'adaptive',
  free: 10,
  leased: 2,
  done: 30,
  dead: 0,
  waits: '',
  ...more,
});

export const node = (i, more = {}) => ({
  node: i.toString(16).padStart(8, '0').padEnd(32, 'f'),
  name: `machine ${i}`,
  device: 'Chromium 140, Linux',
  threads: 8,
  gflops: 100,
  trusted: i % 10 === 0,
  connected: i % 5 > 0,
  leases: 4,
  accepted: 3 * i,
  failed: i % 7,
  consecutive_valid: i,
  last_seen: Date.now() / 1000 - i,
  expelled: '',
  ...more,
});

export const METRICS = (done, dead = 0) =>
  `kaiseki_pool_total{event="accepted"} ${done}\nkaiseki_pool_total{event="dead"} ${dead}\n`;

/** The history of a coordinator that started five minutes ago. */
export function history(url) {
  const seconds = Number(new URL(url, 'http://localhost').searchParams.get('seconds')),
    now = Date.now() / 1000;
  const time = Array.from({ length: 150 }, (_, i) => now - 298 + 2 * i).filter((at) => !seconds || at > now - seconds);
  return { time, rate: time.map((at) => 20 + 5 * Math.sin(at / 20)), nodes: time.map(() => 8000) };
}

export async function servePool(pool) {
  const answer = (response, { url, method }) => {
    const path = url.split('?')[0];
    const found = path === '/api/role' ? { role: 'author' } : (pool[`${method} ${path}`] ?? pool[path]);
    const value = typeof found === 'function' ? found(url) : found;
    response.statusCode = value === undefined ? 404 : 200;
    response.setHeader('Content-Type', typeof value === 'string' ? 'text/plain' : 'application/json');
    response.end(typeof value === 'string' ? value : JSON.stringify(value ?? { error: 'no such thing' }));
  };
  return serve({ '/': PAGE, '/api/': answer, '/metrics': answer });
}
