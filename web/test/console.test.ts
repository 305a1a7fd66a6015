// SPDX-License-Identifier: MIT
// The console with a coordinator that refuses or does not answer.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Task } from '../src/console/api';
import { Errors } from '../src/console/errors';
import { Nodes } from '../src/console/nodes';
import { stateOf } from '../src/console/lists';
import { Pool, tasksWithErrors } from '../src/console/pool';
import { trainingText } from '../src/console/training-text';
import { clock, readHash, timeRange } from '../src/console/view';

/** The text of a component, with a space between its parts. */
const text = (one: any): string => pieces(one).replace(/\s+/g, ' ');
function pieces(one: any): string {
  if (Array.isArray(one)) return one.map(pieces).join(' ');
  if (typeof one?.type === 'function') return pieces(one.type(one.props));
  return one?.props ? pieces(one.props.children) : ['string', 'number'].includes(typeof one) ? String(one) : '';
}

let answers: Record<string, unknown>, ended: boolean;
let refused = false,
  asked: string[] = [],
  gone: string[] = [],
  delays: string[] = [],
  signals: (AbortSignal | null | undefined)[] = [];

beforeEach(() => {
  asked = [];
  gone = delays = [];
  vi.useFakeTimers();
  signals = [];
  refused = ended = false;
  answers = {};
  vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }));
  vi.stubGlobal('fetch', async (path: string, { method, signal }: RequestInit) => {
    signals.push(signal);
    asked.push(path);
    if (gone.includes(path)) return Response.json({ error: 'no such thing' }, { status: 404 });
    if (method !== 'GET' && refused) return Response.json({ error: 'the task has ended' }, { status: 409 });
    const answer = answers[path] ?? [];
    if (delays.includes(path)) await new Promise((resolve) => setTimeout(resolve, 50));
    if (ended && path !== '/api/role') return Response.json({}, { status: 401 });
    return Response.json(path === '/api/role' ? { role: 'author' } : answer);
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('keeps the error of an action until the next action', async () => {
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

test('clears everything at logout, also answers that arrive later', async () => {
  answers = {
    '/api/projects': [{ project: 1, name: 'p', weight: 1, trains: true }],
    '/api/projects/1/curve': [{ step: 1, loss: 2 }],
    '/api/tasks': [{ task: 1, project: 1, done: 5, dead: 0 }],
    '/api/nodes': [{ node: 'n', connected: true }],
    '/api/tasks/1/errors': [{ ticket: 1, node: 'n', time: 1, error: 'e' }],
  };
  const pool = new Pool();
  pool.view.tab.value = 'projects';
  await pool.login('token');
  await vi.advanceTimersByTimeAsync(5000);
  expect(pool.curves.value[1]).toEqual([{ step: 1, loss: 2 }]);
  const changing = pool.change(1, { state: 'paused' });
  refused = true;
  pool.logout();
  await changing;
  await vi.advanceTimersByTimeAsync(5000);
  const state = (of: Pool) =>
    Object.fromEntries(
      Object.entries(of)
        .filter(([name, one]) => !['now', 'version', 'view'].includes(name) && typeof one !== 'function')
        .map(([name, one]) => [name, one.value]),
    );
  expect(state(pool)).toEqual(state(new Pool()));
});

test('does not log in when the token expires meanwhile', async () => {
  ended = true;
  const pool = new Pool();
  await pool.login('token');
  expect(pool.role.value).toBeNull();
});

test('a task that was deleted after it was listed is no problem', async () => {
  answers = { '/api/tasks': [{ task: 1, project: 1, name: 't', done: 0, dead: 3 }] };
  gone = ['/api/tasks/1/errors'];
  const pool = new Pool();
  pool.view.tab.value = 'errors';
  await pool.login('token');
  expect(asked).toContain('/api/tasks/1/errors');
  expect(pool.problem.value).toBe('');
  expect(pool.tasks.value.length).toBe(1);
  pool.logout();
});

const NODE = {
  name: '',
  device: '',
  threads: 1,
  gflops: 0,
  leases: 0,
  accepted: 0,
  failed: 0,
  consecutive_valid: 0,
  last_seen: 0,
  trusted: false,
};

test('draws some of 10,000 nodes, connected ones first, with their ids and the reason of absent ones', () => {
  const pool = new Pool();
  pool.nodes.value = Array.from({ length: 10_000 }, (_, i) => ({
    ...NODE,
    node: `${i}`.padStart(8, '0'),
    name: `node ${i};`,
    connected: i >= 1100,
    expelled: i ? '' : 'a liar',
    reason: i === 1 ? 'no sign of life' : undefined,
  }));
  const first = text(Nodes({ pool }));
  expect(first.match(/node \d+;/g)!.length).toBeLessThan(60);
  expect(first).toMatch(/^ *Nodes 10,000 .*node 1100; 00001100 /);
  pool.view.scrolled(8900 * pool.view.rowHeight.value, 600);
  expect(text(Nodes({ pool }))).toMatch(/node 9999;.*node 0;.*a liar.*node 1;.*no sign of life/);
  pool.view.nodeState.value = 'expelled';
  expect(text(Nodes({ pool }))).toMatch(/Nodes 1 of 10,000 .*node 0;/);
});

test('says when it shows the errors of only some tasks', () => {
  const pool = new Pool();
  const tasks = (count: number) => Array.from({ length: count }, (_, i) => ({ task: i, dead: 0 }) as Task);
  pool.tasks.value = tasks(20);
  expect(text(Errors({ pool }))).not.toContain('tasks');
  pool.tasks.value = tasks(21);
  expect(text(Errors({ pool }))).toContain('errors of 20 tasks');
});

test('asks for errors of tasks with dead tickets first', () => {
  const tasks = Array.from({ length: 100 }, (_, i) => ({ task: i, dead: Number(i === 3) }) as Task);
  expect(tasksWithErrors(tasks).map(({ task }) => task)).toEqual([3, ...Array.from({ length: 19 }, (_, i) => 99 - i)]);
});

test('names the node of an error as its row does, and does not deny dead tickets', () => {
  const pool = new Pool();
  pool.tasks.value = [{ task: 1, dead: 12 } as Task];
  expect(text(Errors({ pool }))).toContain('12 tickets failed too often');
  expect(text(Errors({ pool }))).not.toContain('No ticket has failed');
  pool.tasks.value = [];
  expect(text(Errors({ pool }))).toContain('No ticket has failed');
  pool.nodes.value = [{ ...NODE, node: 'n', connected: true, expelled: '', failed: 12 }];
  expect(text(Errors({ pool }))).toContain('12 attempts ended without a result');
  const node = '82d1433a00000000';
  pool.nodes.value = [{ ...NODE, node, name: 'laptop', connected: true, expelled: '' }];
  pool.errors.value = [{ task: 1, taskName: 't', ticket: 5, node, time: 0, error: 'too heavy' }];
  expect(text(Errors({ pool }))).toContain('laptop (82d1433a)');
  expect(text(Nodes({ pool }))).toContain('82d1433a');
});

test('tells the epoch, the step, the time left and the loss of a training', () => {
  expect(trainingText([], 0)).toBe('No step yet');
  expect(trainingText([{ step: 7, loss: 2.3456 }], 0)).toBe('Step 7, loss 2.35');
  const whole = { steps: 3000, epoch: 2, epochs: 3 };
  const points = [
    { step: 1200, loss: 0.5, ...whole },
    { step: 1500, accuracy: 0.9, ...whole },
  ];
  expect(trainingText(points, 10)).toBe('Epoch 2 of 3, step 1,500 of 3,000, 10 steps/s, 2:30 left, loss 0.500');
  expect(trainingText([{ step: 3000, ...whole, epoch: 3 }], 10)).toBe('Epoch 3 of 3, step 3,000 of 3,000, 10 steps/s');
});

test('plots what the coordinator remembers of the selected time', async () => {
  const history = { time: [1, 2], rate: [3, 4], nodes: [1, 1] };
  answers = { '/api/history?seconds=600': history, '/api/history?seconds=86400': { time: [1], rate: [2], nodes: [1] } };
  const pool = new Pool();
  await pool.login('token');
  expect(pool.history.value).toEqual(history);
  pool.view.timeRange.value = '86400';
  await vi.advanceTimersByTimeAsync(100);
  expect(pool.history.value.time).toEqual([1]);
  pool.view.tab.value = 'nodes';
  asked = [];
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked.filter((path) => path.startsWith('/api/history'))).toEqual([]);
  pool.logout();
  expect(pool.history.value.time).toEqual([]);
});

test('a task without open tickets has finished, unless it trains', () => {
  const task = { state: 'running', function: '', free: 0, leased: 0, done: 4, dead: 0 } as Task;
  expect(stateOf(task)).toBe('finished');
  expect(stateOf({ ...task, free: 1 })).toBe('running');
  expect(stateOf({ ...task, done: 0 })).toBe('running');
  expect(stateOf({ ...task, function: 'kaiseki.train' })).toBe('running');
  expect(stateOf({ ...task, state: 'cancelled' })).toBe('cancelled');
});

test('reads the address, and plots the selected time', () => {
  expect(readHash('#nodes/a%20b')).toEqual({ tab: 'nodes', search: 'a b' });
  expect(readHash('#elsewhere/%')).toEqual({ tab: 'overview', search: '' });
  expect(timeRange('600', 0, 5000)).toEqual([4400, 5000]);
  expect(timeRange('0', 1000, 5000)).toEqual([1000, 5000]);
  expect(timeRange('0', 4999, 5000)).toEqual([4940, 5000]);
  expect(clock(1e9, 600)).toMatch(/^\d\d:\d\d:\d\d$/);
  expect(clock(1e9, 86400)).toMatch(/^\d\d:\d\d$/);
  expect(clock(1e9, 1e7)).toMatch(/^[89] Sept?$/);
});

test('an answer that arrives after that of a later request is ignored', async () => {
  const pool = new Pool();
  await pool.login('token');
  delays = ['/api/tasks'];
  const slow = pool.refresh();
  answers = { '/api/tasks': [{ task: 2, project: 1, done: 0, dead: 0 }] };
  delays = [];
  await pool.refresh();
  await Promise.all([slow, vi.advanceTimersByTimeAsync(100)]);
  expect(pool.tasks.value.map(({ task }) => task)).toEqual([2]);
  pool.logout();
});

test('limits the time of every request', async () => {
  const pool = new Pool();
  await pool.login('token');
  await pool.change(1, { priority: 2 });
  expect(signals.length).toBeGreaterThan(4);
  expect(signals.every((signal) => signal instanceof AbortSignal)).toBe(true);
  pool.logout();
});
