// SPDX-License-Identifier: MIT
// The console against a coordinator that refuses, or says nothing.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Pool } from '../src/console/pool';
import { Series } from '../src/logic/series';

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

test('no request waits for ever', async () => {
  const pool = new Pool();
  await pool.login('token');
  await pool.change(1, { priority: 2 });
  expect(signals.length).toBeGreaterThan(5);
  expect(signals.every((signal) => signal instanceof AbortSignal)).toBe(true);
  pool.logout();
});
