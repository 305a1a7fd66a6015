// SPDX-License-Identifier: MIT
// Writes messages of tensors as docs/protocol-tensors.md describes them, and a training node's ticket with its blobs.
import { createHash } from 'node:crypto';

export const F32 = 0;
const I32 = 3,
  U8 = 4;
const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)]);
const number = (size, value) => {
  const bytes = Buffer.alloc(size);
  if (size === 8) bytes.writeBigUInt64LE(BigInt(value));
  else bytes.writeUIntLE(value, 0, size);
  return bytes;
};
export const hash = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Texts by name. A tensor is { name, type, shape, values }. */
export function encode(texts, tensors) {
  const entries = Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = [number(4, entries.length), number(4, tensors.length)];
  for (const [key, value] of entries)
    parts.push(number(4, key.length), number(4, value.length), Buffer.from(key + value));
  for (const { name, type, shape } of tensors)
    parts.push(
      number(1, type),
      number(1, shape.length),
      number(2, 0),
      number(4, name.length),
      ...shape.map((dim) => number(8, dim)),
      Buffer.from(name),
    );
  const body = Buffer.concat(parts),
    length = Math.ceil((8 + body.length) / 8) * 8;
  const header = Buffer.concat([Buffer.from('KKT1'), number(4, length), body, Buffer.alloc(length - 8 - body.length)]);
  return Buffer.concat([header, ...tensors.map(({ values }) => padded(Buffer.from(values.buffer)))]);
}

export const network = Buffer.from(
  JSON.stringify({
    inputs: { x: { shape: [2] } },
    layers: [
      { name: 'fc', type: 'fully_connected', output_size: 2 },
      { name: 'p', type: 'softmax' },
    ],
  }),
);
export const w = new Float32Array([0.5, -0.25, 1, 0.75]),
  b = new Float32Array([0.1, -0.2]),
  bytes = new Uint8Array([230, 40]),
  mean = new Float32Array([0.5]),
  std = new Float32Array([0.25]),
  x = Float32Array.from(bytes, (byte) => (byte / 255 - mean[0]) / std[0]);
export const weights = encode({}, [
  { name: 'fc.weight', type: F32, shape: [2, 2], values: w },
  { name: 'fc.bias', type: F32, shape: [2], values: b },
]);
export const samples = encode({}, [
  { name: 'samples', type: U8, shape: [1, 2], values: bytes },
  { name: 'mean', type: F32, shape: [1], values: mean },
  { name: 'std', type: F32, shape: [1], values: std },
]);
export const blobs = new Map([network, weights, samples].map((bytes) => [hash(bytes), bytes]));
/** A ticket for these blobs, or for others. */
export const ticket = (others = {}) =>
  encode(
    {
      work: 'gradients',
      network: hash(network),
      weights: hash(weights),
      samples: hash(samples),
      seed: '1',
      position: '0',
      first: '0',
      gradients: '2',
      output: '1',
      activation_type: 'f32',
      gradient_type: 'f32',
      ...others,
    },
    [{ name: 'labels', type: I32, shape: [1], values: new Int32Array([1]) }],
  );
