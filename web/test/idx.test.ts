// SPDX-License-Identifier: MIT
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { picturesOf, readIdx, unpack } from '../src/logic/idx';

function idx(shape: readonly number[], values: readonly number[], type = 8): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(4 + 4 * shape.length + values.length),
    view = new DataView(bytes.buffer);
  bytes.set([0, 0, type, shape.length]);
  shape.forEach((dim, i) => view.setUint32(4 + 4 * i, dim));
  bytes.set(values, 4 + 4 * shape.length);
  return bytes;
}

const IMAGES = idx([3, 1, 2], [1, 2, 3, 4, 5, 6]),
  LABELS = idx([3], [7, 8, 9]);

test('reads the shape and the values', () => {
  expect(readIdx(IMAGES, 'a')).toEqual({ shape: [3, 1, 2], values: Uint8Array.of(1, 2, 3, 4, 5, 6) });
});

test('refuses other files', () => {
  for (const bytes of [new Uint8Array(), Uint8Array.of(1, 2, 3, 4), idx([1], [1], 13)])
    expect(() => readIdx(bytes, 'a.gz')).toThrow('[mnist] a.gz is no IDX file of bytes');
  expect(() => readIdx(IMAGES.slice(0, 10), 'a')).toThrow('ends in its header');
  expect(() => readIdx(IMAGES.slice(0, 20), 'a')).toThrow('has 4 bytes of values, expected 6');
});

test('unpacks gzip, and returns other bytes unchanged', async () => {
  expect(await unpack(new Uint8Array(gzipSync(IMAGES)))).toEqual(IMAGES);
  expect(await unpack(IMAGES)).toBe(IMAGES);
});

test('takes the first pictures', () => {
  const [images, labels] = [readIdx(IMAGES, 'a'), readIdx(LABELS, 'b')];
  expect(picturesOf(images, labels, 2)).toEqual({
    images: Uint8Array.of(1, 2, 3, 4),
    labels: Int32Array.of(7, 8),
    shape: [2, 1, 2],
  });
  expect(picturesOf(images, labels, 99).shape).toEqual([3, 1, 2]);
  expect(() => picturesOf(images, readIdx(idx([2], [1, 2]), 'b'), 9)).toThrow('expected 3 labels, got 2');
  expect(() => picturesOf(labels, images, 9)).toThrow('a file of pictures and a file of labels');
});
