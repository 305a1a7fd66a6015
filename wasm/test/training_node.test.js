// SPDX-License-Identifier: MIT
// A training node's result against gradients computed in this file.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { load } from 'kaiseki/sync';
import { F32, b, blobs, hash, samples, ticket, w, weights, x } from './message.js';

const kaiseki = await load({ threads: 1 });

/** Decodes the tensors of a message. All are f32. */
function decode(message) {
  const bytes = Buffer.from(message);
  let at = 16,
    data = bytes.readUInt32LE(4);
  const texts = {},
    tensors = {};
  for (let i = 0; i < bytes.readUInt32LE(8); ++i) {
    const [key, value] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)];
    texts[bytes.toString('utf8', at + 8, at + 8 + key)] = bytes.toString('utf8', at + 8 + key, at + 8 + key + value);
    at += 8 + key + value;
  }
  for (let i = 0; i < bytes.readUInt32LE(12); ++i) {
    assert.equal(bytes[at], F32);
    const rank = bytes[at + 1],
      length = bytes.readUInt32LE(at + 4);
    let size = 1;
    for (let d = 0; d < rank; ++d) size *= Number(bytes.readBigUInt64LE(at + 8 + 8 * d));
    at += 8 + 8 * rank + length;
    tensors[bytes.toString('utf8', at - length, at)] = Array.from({ length: size }, (_, k) =>
      bytes.readFloatLE(data + 4 * k),
    );
    data += Math.ceil(size / 2) * 8;
  }
  return { texts, tensors };
}

const given = ticket();

describe('training nodes', () => {
  test('computes loss, output and gradients, asks for each blob once, and does not leak', async () => {
    const before = kaiseki.memory().handles;
    const node = kaiseki.trainingNode();
    assert.deepEqual(node.missing(given), [...blobs.keys()]);
    const { texts, tensors } = decode(await node.compute(given, async (name) => blobs.get(name)));
    assert.deepEqual(node.missing(given), []);
    assert.equal(texts.ticket, hash(given));
    const logits = [0, 1].map((k) => w[2 * k] * x[0] + w[2 * k + 1] * x[1] + b[k]);
    const sum = Math.exp(logits[0]) + Math.exp(logits[1]);
    const p = logits.map((value) => Math.exp(value) / sum),
      delta = [p[0], p[1] - 1];
    const near = (found, expected) => found.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 1e-5));
    near(tensors.loss, [-Math.log(p[1])]);
    near(tensors.output, p);
    near(tensors['fc.weight'], [delta[0] * x[0], delta[0] * x[1], delta[1] * x[0], delta[1] * x[1]]);
    near(tensors['fc.bias'], delta);
    assert.deepEqual(Buffer.from(node.run(given)), Buffer.from(node.run(given)));
    node.dispose();
    assert.equal(kaiseki.memory().handles, before);
  });

  test('refuses a ticket that needs more memory than it may take, and computes one that fits', () => {
    const node = kaiseki.trainingNode();
    for (const [name, bytes] of blobs) node.addBlob(name, bytes);
    assert.throws(() => node.run(given, 2 ** 20), {
      kind: 'Error',
      message:
        /^\[train\] expected a ticket that needs at most 1.0 MiB \(memory_bytes\), got a network that needs 16.0 MiB/,
    });
    assert.deepEqual(Buffer.from(node.run(given, 2 ** 25)), Buffer.from(node.run(given)));
    node.dispose();
  });

  test('rejects malformed tickets and blobs', () => {
    const node = kaiseki.trainingNode({ cacheBytes: 1 << 20 });
    assert.throws(() => node.run(given), /expected the blob/);
    assert.throws(() => node.run(given.subarray(0, 40)), { kind: 'ParseError' });
    assert.throws(() => node.addBlob(hash(weights), samples), /SHA-256/);
    node.dispose();
  });
});
