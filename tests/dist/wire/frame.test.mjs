// SPDX-License-Identifier: MIT
// web/pool/frame.js against the test vectors that the C++ side passes too.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { FrameError, decodeFrame, encodeFrame, frameHeaderBytes } from '../../../web/pool/frame.js';

const { good, bad } = JSON.parse(readFileSync(new URL('vectors/frames.json', import.meta.url), 'utf8'));
const bytes = (hex) => Uint8Array.from(Buffer.from(hex, 'hex'));

test('decodes, encodes and decodes the valid vectors', () => {
  assert.ok(good.length >= 15);
  for (const { name, hex, type, ticket, control, payload_hex: payload } of good) {
    const expected = { type, ticket, control, payload: bytes(payload) };
    const frame = decodeFrame(bytes(hex));
    assert.deepEqual(frame, expected, name);
    assert.deepEqual(decodeFrame(encodeFrame(frame)), expected, name);
  }
});

test('rejects the invalid vectors', () => {
  assert.ok(bad.length >= 26);
  for (const { name, hex } of bad) assert.throws(() => decodeFrame(bytes(hex)), FrameError, name);
});

test('limits the control part to 65536 bytes', () => {
  const of = (length) => encodeFrame({ type: 'echo', control: { x: 'y'.repeat(length - '{"x":""}'.length) } });
  assert.equal(decodeFrame(of(65536)).control.x.length, 65528);
  assert.throws(() => of(65537), FrameError);
  const announced = new Uint8Array(frameHeaderBytes + 65537);
  announced.set(of(65536).subarray(0, frameHeaderBytes));
  new DataView(announced.buffer).setUint32(24, 65537, true);
  assert.throws(() => decodeFrame(announced), /65536/);
});

test('decodes or rejects every mutated message', () => {
  let state = 1;
  const random = (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return (state >>> 0) % below;
  };
  for (let round = 0; round < 20000; ++round) {
    const message = bytes(good[random(good.length)].hex);
    for (let i = random(4); i >= 0; --i) message[random(message.length)] = random(256);
    const part = random(4) === 0 ? message.subarray(0, random(message.length + 1)) : message;
    try {
      const frame = decodeFrame(part);
      assert.deepEqual(decodeFrame(encodeFrame(frame)), frame);
    } catch (error) {
      assert.ok(error instanceof FrameError, error.stack);
    }
  }
});
