// SPDX-License-Identifier: MIT
// web/pool/blobs.js and the fetches of web/pool/page_runner.js: the blob cache, and the time-out of a download.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { cacheBlobs } from '../../../web/pool/blobs.js';
import { makeFetch, makeCachedFetch } from '../../../web/pool/page_runner.js';

function counted(sizes) {
  const asked = [];
  return {
    asked,
    load: async (hash) => {
      asked.push(hash);
      if (!(hash in sizes)) throw new Error('no answer');
      return new Uint8Array(sizes[hash]);
    },
  };
}

test('evicts the oldest blobs at the byte limit', async () => {
  const { asked, load } = counted({ a: 40, b: 40, c: 40, huge: 1000, d: 1 }),
    fetchBlob = cacheBlobs(load, 100);
  for (const hash of ['a', 'b', 'a', 'b', 'c', 'b', 'c', 'a']) assert.equal((await fetchBlob(hash)).length, 40);
  assert.deepEqual(asked, ['a', 'b', 'c', 'a']);
  for (const hash of ['huge', 'huge', 'd', 'd']) await fetchBlob(hash);
  assert.deepEqual(asked.slice(4), ['huge', 'huge', 'd']);
});

test('does not load a blob twice, except after a failure', async () => {
  const { asked, load } = counted({ a: 1 }),
    fetchBlob = cacheBlobs(load);
  await Promise.all([fetchBlob('a'), fetchBlob('a')]);
  await assert.rejects(fetchBlob('lost'), /no answer/);
  await assert.rejects(fetchBlob('lost'), /no answer/);
  assert.deepEqual(asked, ['a', 'lost', 'lost']);
});

test('has no limit of the total time while bytes arrive', async (t) => {
  const bytes = new Uint8Array(10).map((_, i) => i),
    hash = createHash('sha256').update(bytes).digest('hex');
  const drip = (stops, signal) =>
    new ReadableStream({
      async start(out) {
        signal.addEventListener('abort', () => out.error(signal.reason));
        for (const byte of bytes.subarray(0, stops)) {
          await new Promise((resolve) => setTimeout(resolve, 40));
          out.enqueue(Uint8Array.of(byte));
        }
        if (stops === bytes.length) out.close();
      },
    });
  let stops = bytes.length;
  t.mock.method(globalThis, 'fetch', async (_, { signal }) => new Response(drip(stops, signal)));
  const fetchBlob = makeFetch(() => {}, 0.2);
  assert.deepEqual(await fetchBlob(hash), bytes, '0.4 s, 0.04 s of silence');
  stops = 5;
  await assert.rejects(fetchBlob(hash), { name: 'TimeoutError' });
});

test('ends a download when its bytes are too many', async (t) => {
  let sent = 0,
    ended;
  const endless = () =>
    new ReadableStream({
      pull(out) {
        out.enqueue(new Uint8Array(1000));
        sent += 1000;
      },
      cancel: (reason) => (ended = reason),
    });
  t.mock.method(globalThis, 'fetch', async () => new Response(endless()));
  let left = 5000;
  const fetchBlob = makeFetch((count) => {
    left -= count;
    if (left <= 0) throw new Error('the limit is reached');
  });
  await assert.rejects(fetchBlob('0'), /the limit is reached/);
  assert.match(String(ended), /the limit is reached/);
  assert.ok(sent <= 10_000, `${sent} bytes`);
});

test('rejects a silent download, and the next ticket tries again', async (t) => {
  const bytes = new Uint8Array([1, 2, 3]),
    hash = createHash('sha256').update(bytes).digest('hex');
  let hangs = true,
    asked = 0;
  t.mock.method(globalThis, 'fetch', (_, { signal } = {}) => {
    ++asked;
    if (!hangs) return Promise.resolve(new Response(bytes));
    return new Promise((_, reject) => {
      const limit = setTimeout(() => reject(new Error('took a second')), 1000);
      signal?.addEventListener('abort', () => {
        clearTimeout(limit);
        reject(signal.reason);
      });
    });
  });
  let received = 0;
  const fetchBlob = makeCachedFetch((count) => {
    received += count;
  }, 0.05);
  await assert.rejects(fetchBlob(hash), { name: 'TimeoutError' });
  hangs = false;
  assert.deepEqual(await fetchBlob(hash), bytes);
  await fetchBlob(hash);
  assert.equal(asked, 2);
  assert.equal(received, 3);
  const plain = makeFetch(() => {});
  (await plain(hash), await plain(hash));
  assert.equal(asked, 4, 'does not cache blobs for trainers');
});

test('waits and tries again if the coordinator is busy', async (t) => {
  const bytes = Uint8Array.of(1, 2),
    hash = createHash('sha256').update(bytes).digest('hex');
  const answers = [new Response('', { status: 429 }), new Response(bytes)];
  t.mock.method(globalThis, 'fetch', async () => answers.shift());
  assert.deepEqual(await makeFetch(() => {})(hash), bytes);
  assert.equal(answers.length, 0);
  t.mock.method(globalThis, 'fetch', async () => new Response('', { status: 429 }));
  await assert.rejects(makeFetch(() => {}, 0.2)(hash), { name: 'TimeoutError' });
});
