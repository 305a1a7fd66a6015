// SPDX-License-Identifier: MIT
// The console against a coordinator that refuses, or says nothing.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Task } from '../src/console/api';
import { Errors } from '../src/console/errors';
import { Nodes } from '../src/console/nodes';
import { Pool } from '../src/console/pool';
import { Series } from '../src/logic/series';

/** All that a part says, with a blank between its pieces. */
const text = (one: any): string => pieces(one).replace(/\s+/g, ' ');
function pieces(one: any): string {
  if (Array.isArray(one)) return one.map(pieces).join(' ');
  if (typeof one?.type === 'function') return pieces(one.type(one.props));
  return one?.props ? pieces(one.props.children) : ['string', 'number'].includes(typeof one) ? String(one) : '';
}

let answers: Record<string, unknown>, ended: boolean;
let refused = false, signals: (AbortSignal | null | undefined)[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  signals = [];
  refused = ended = false;
  answers = {};
  vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }));
  vi.stubGlobal('fetch', async (path: string, { method, signal }: RequestInit) => {
    signals.push(signal);
    if (method !== 'GET' && refused) return Response.json({ error: 'the task has ended' }, { status: 409 });
    if (ended && path !== '/api/role') return Response.json({}, { status: 401 });
    return Response.json(path === '/api/role' ? { role: 'author' } : answers[path] ?? []);
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('why an action was not done stays through the next looks, until the next action', async () => {
  const pool = new Pool();
  await pool.login('token');
  refused = true;
  await pool.change(1, { state: 'paused' });
  await vi.advanceTimersByTimeAsync(5000);
  expect(pool.failure.value).toBe('the task has ended');
  expect(pool.problem.value).toBe('');
  refused = false;
  await pool.change(1, { state: 'paused' });
  expect(pool.failure.value).toBe('');
  pool.logout();
});

test('nothing of who logged out stays, not even what is on its way', async () => {
  answers = { '/api/projects': [{ project: 1, name: 'p', weight: 1, trains: true }], '/api/projects/1/curve': [{ step: 1, loss: 2 }],
    '/api/tasks': [{ task: 1, project: 1, done: 5, dead: 0 }], '/api/nodes': [{ node: 'n', connected: true }],
    '/api/tasks/1/errors': [{ ticket: 1, node: 'n', time: 1, error: 'e' }] };
  const pool = new Pool();
  await pool.login('token');
  await vi.advanceTimersByTimeAsync(5000);
  expect(pool.curves.value[1]).toEqual([{ step: 1, loss: 2 }]);
  expect(pool.connected.y.length).toBeGreaterThan(1);
  const changing = pool.change(1, { state: 'paused' });
  refused = true;
  pool.logout();
  await changing;
  await vi.advanceTimersByTimeAsync(5000);
  const state = (of: Pool) => Object.fromEntries(Object.entries(of).filter(([name, one]) => !['now', 'version'].includes(name) && typeof one !== 'function')
    .map(([name, one]) => [name, one instanceof Series ? one.y : one.value]));
  expect(state(pool)).toEqual(state(new Pool()));
});

test('a token that ends while the console begins logs nobody in', async () => {
  ended = true;
  const pool = new Pool();
  await pool.login('token');
  expect(pool.role.value).toBeNull();
});

test('of many nodes 200 are shown, those that are here before others; why one is not here stands there', () => {
  const pool = new Pool();
  const node = { name: '', device: '', threads: 1, gflops: 0, leases: 0, accepted: 0, failed: 0, consecutive_valid: 0, last_seen: 0, trusted: false };
  pool.nodes.value = Array.from({ length: 1234 }, (_, i) => ({ ...node, node: `${i}`, name: `node ${i};`, connected: i >= 1100, expelled: i ? '' : 'a liar', reason: i === 1 ? 'no sign of life' : undefined }));
  const said = text(Nodes({ pool }));
  expect(said.match(/node \d+;/g)!.length).toBe(200);
  expect(said).toMatch(/^ *Nodes .*node 1100;.*node 1233;.*node 0;.*a liar.*node 1;.*no sign of life.*and 1,034 more/);
  pool.nodes.value = pool.nodes.value.slice(0, 200);
  expect(text(Nodes({ pool }))).not.toContain('more');
});

test('whose errors are asked for is said, where it is not all tasks\'', () => {
  const pool = new Pool();
  const tasks = (count: number) => Array.from({ length: count }, (_, i) => ({ task: i }) as Task);
  pool.tasks.value = tasks(20);
  expect(text(Errors({ pool }))).not.toContain('tasks');
  pool.tasks.value = tasks(21);
  expect(text(Errors({ pool }))).toContain('of the newest 20 tasks');
});

test('no request waits for ever', async () => {
  const pool = new Pool();
  await pool.login('token');
  await pool.change(1, { priority: 2 });
  expect(signals.length).toBeGreaterThan(5);
  expect(signals.every((signal) => signal instanceof AbortSignal)).toBe(true);
  pool.logout();
});
