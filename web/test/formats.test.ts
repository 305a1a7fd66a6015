// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { checkWeights, formatOf, HEAD, purposeOf } from '../src/logic/formats';

const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(parts.flatMap((part) => (typeof part === 'string' ? [...new TextEncoder().encode(part)] : part)));

function tar(): Uint8Array {
  const block = new Uint8Array(1024);
  block.set(bytes('conv1.weight.npy'));
  block.fill(32, 148, 156);
  const sum = block.reduce((sum, byte) => sum + byte, 0);
  block.set(bytes(`${sum.toString(8).padStart(6, '0')}\0 `), 148);
  return block;
}

test.each([
  ['safetensors', bytes([2, 0, 0, 0, 0, 0, 0, 0], '{}')],
  ['json', bytes('  \n[{"a": 1}]')],
  ['json', bytes('{"layers": []}')],
  ['gzip', bytes([0x1f, 0x8b, 8, 0])],
  ['tar', tar()],
  ['onnx', bytes([8, 7, 18, 4], 'pytorch')],
  ['idx', bytes([0, 0, 8, 3, 0, 0, 0, 1])],
  [null, bytes('not weights')],
  [null, bytes([137], 'PNG')],
  [null, new Uint8Array(0)],
  [null, new Uint8Array(1024)],
  [null, bytes([255, 0, 0, 0, 0, 0, 0, 0], '{}')],
])('the format %s', (format, file) => {
  expect(formatOf(file, file.length)).toBe(format);
});

test('names the formats when a file is of another one', async () => {
  const refused = (...parts: Uint8Array<ArrayBuffer>[]) =>
    checkWeights(new Blob(parts)).then(
      () => 'taken',
      (error) => error.message,
    );
  expect(await refused(new TextEncoder().encode('not weights'))).toBe(
    '[weights] expected a file in a format that is read here: safetensors, tar (also .gz), ONNX, or a network as JSON ' +
      'with weights; got 11 bytes of another format',
  );
  expect(await refused()).toMatch(/got an empty file$/);
  expect(await refused(new Uint8Array([8, 7, 18, 4]))).toBe('taken');
  expect(HEAD).toBe(512);
});

test.each([
  ['network', [new File(['{"layers": []}'], 'net.json')]],
  ['network', [new File([new Uint8Array([8, 7, 18, 4])], 'net.onnx')]],
  ['weights', [new File([new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0]), '{}'], 'w.safetensors')]],
  ['data', [new File([new Uint8Array([0x1f, 0x8b])], 'train-images-idx3-ubyte.gz')]],
  ['data', [new File([''], 'a'), new File([''], 'b')]],
])('opens as %s', async (purpose, files) => expect(await purposeOf(files)).toBe(purpose));

test('refuses to open a file of no known format', async () => {
  await expect(purposeOf([new File(['cat'], 'cat.jpg')])).rejects.toThrow(/expected a network .* got cat\.jpg$/);
});
