// SPDX-License-Identifier: MIT
// The training worker of a page: its options, and its answers to errors.
import { afterEach, expect, test, vi } from 'vitest';
import { trainingRunner } from '../pool/page_runner.js';
import { Training } from '../pool/training.js';

afterEach(() => void vi.unstubAllGlobals());

const ticket = { function: 'kaiseki.train', input: new Uint8Array(1), blobs: [], memory: 2 ** 28 };

test.each([
  [2 ** 30, 2 ** 28],
  [2 ** 33, 2 ** 29],
])('of %d bytes of memory, the blob cache takes at most %d', (memory, cacheBytes) => {
  const posted: unknown[] = [];
  vi.stubGlobal(
    'Worker',
    class {
      postMessage = (message: unknown) => posted.push(message);
    },
  );
  const { port1: port } = new MessageChannel();
  const runner = trainingRunner(
    2,
    memory,
    async () => new Uint8Array(),
    () => ({ port, end() {} }),
  );
  void runner.run(ticket).catch(() => {});
  expect(posted).toMatchObject([{ threads: 2, cacheBytes }, { function: 'kaiseki.train' }]);
});

test('passes the limit of the cache on, and is not used again after a thread has failed', async () => {
  let error = Object.assign(new Error('bad ticket'), { kind: 'ParseError' });
  const trainingNode = vi.fn(() => ({
    missing: () => [],
    run() {
      throw error;
    },
  }));
  const training = new Training(async () => ({ load: async () => ({ trainingNode }) }), { cacheBytes: 1234 });
  const answer = () => new Promise((resolve) => void training.receive(ticket, resolve));
  expect(await answer()).toEqual({ error: 'bad ticket', spent: false });
  error = Object.assign(new Error('a thread has failed'), { kind: 'Closed' });
  expect(await answer()).toEqual({ error: 'a thread has failed', spent: true });
  expect(trainingNode.mock.calls).toEqual([[{ cacheBytes: 1234 }]]);
});
