// SPDX-License-Identifier: MIT
// The results of a task: the coordinator falls silent, or the task ends early.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api } from '../src/console/api';
import { INPUTS } from '../src/logic/mandelbrot';
import { Author } from '../src/mandelbrot/author';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const line = (ticket: number) => `${JSON.stringify({ sequence: ticket, ticket, result: 'x' })}\n`;

test('reconnects a stream that is silent for a minute, after its last result', async () => {
  let say!: (text: string) => void;
  const asked: string[] = [],
    tickets: number[] = [];
  vi.stubGlobal('fetch', async (path: string, { signal }: RequestInit) => {
    asked.push(path);
    if (asked.length > 1) return new Response(line(2));
    return new Response(
      new ReadableStream({
        start(body) {
          say = (text) => body.enqueue(new TextEncoder().encode(text));
          signal?.addEventListener('abort', () => body.error(signal.reason));
        },
      }),
    );
  });
  const followed = (async () => {
    for await (const { ticket } of new Api('token').results(7)) tickets.push(ticket);
  })();
  await vi.advanceTimersByTimeAsync(50_000);
  say(line(1));
  await vi.advanceTimersByTimeAsync(50_000);
  say('\n');
  await vi.advanceTimersByTimeAsync(50_000);
  expect(asked).toEqual(['/api/tasks/7/results?follow=1&after=0']);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(asked.slice(1)).toEqual(['/api/tasks/7/results?follow=1&after=1']);
  await followed;
  expect(tickets).toEqual([1, 2]);
});

test('reports when the task ends before the last tile', async () => {
  let results = line(1);
  vi.stubGlobal('fetch', async (path: string) =>
    path.includes('/results') ? new Response(results) : Response.json({ project: 1, task: 1, first: 1 }),
  );
  const author = new Author();
  author.api.value = new Api('token');
  await author.compute(() => {});
  expect([author.done.value, author.computing.value]).toEqual([1, false]);
  expect(author.problem.value).toContain('was cancelled');
  results = INPUTS.map((_, i) => line(1 + i)).join('');
  await author.compute(() => {});
  expect([author.done.value, author.problem.value]).toEqual([INPUTS.length, '']);
});
