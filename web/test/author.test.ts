// SPDX-License-Identifier: MIT
// The Mandelbrot page with a fake coordinator: its status while no tile can finish.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Api, Result } from '../src/console/api';
import { Author } from '../src/mandelbrot/author';

let author: Author, waits: string, show: (result: Result) => void;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  waits = '';
  author = new Author();
  author.api.value = {
    addProject: async () => ({ project: 1 }),
    putBlob: async () => '',
    addTask: async () => ({ task: 7 }),
    addTickets: async () => ({ first: 1 }),
    task: async (task: number) => ({ task, waits }),
    async *results() {
      for (;;) yield await new Promise<Result>((resolve) => (show = resolve));
    },
  } as unknown as Api;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('shows the reason while the tiles wait for another node', async () => {
  void author.compute(() => {});
  await vi.advanceTimersByTimeAsync(10);
  expect(author.status.value).toMatch(/^Waiting for a node: /);
  waits = 'expected nodes of 2 addresses, got 1';
  await vi.advanceTimersByTimeAsync(2000);
  expect(author.status.value).toBe(`Waiting for another node: ${waits}`);
  show({ sequence: 1, ticket: 1, result: '' });
  waits = '';
  await vi.advanceTimersByTimeAsync(2000);
  expect(author.status.value).toBe('Computing …');
});

test('asks no more once the task has ended', async () => {
  const task = vi.spyOn(author.api.value!, 'task');
  author.api.value!.results = async function* () {};
  await author.compute(() => {});
  await vi.advanceTimersByTimeAsync(10_000);
  expect(task).not.toHaveBeenCalled();
  expect(author.problem.value).toContain('was cancelled');
});
