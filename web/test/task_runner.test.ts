// SPDX-License-Identifier: MIT
// The frames of the volunteer's tasks, in a page that is imitated.
import { existsSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { taskRunner } from '../src/volunteer/task_runner';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('limits a ticket of a task to 60 s, and removes its frame', async () => {
  vi.useFakeTimers();
  const permissions: string[] = [];
  const frame = { sandbox: { add: (one: string) => permissions.push(one) }, remove: vi.fn(), src: '' };
  const body = { append: vi.fn() };
  vi.stubGlobal('document', { createElement: () => frame, body });
  let why: string | undefined;
  taskRunner()
    .run({} as never)
    .catch(({ message }: Error) => {
      why = message;
    });
  expect(body.append).toHaveBeenCalledExactlyOnceWith(frame);
  expect(permissions).toEqual(['allow-scripts']);
  // The built page has the files of public/.
  expect(existsSync(new URL(`../public${frame.src}`, import.meta.url)), frame.src).toBe(true);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(why).toBeUndefined();
  expect(frame.remove).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(why).toBe('took more than 60 s');
  expect(frame.remove).toHaveBeenCalledOnce();
});
