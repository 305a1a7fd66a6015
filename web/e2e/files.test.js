// SPDX-License-Identifier: MIT
// Files are opened by their contents, from a button or dropped: networks as ONNX and JSON, weights, data.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DESKTOP, open, pick, press, until, withPage } from './page.js';
import { assertAccessible, assertFits } from './look.js';

// Messages of Protocol Buffers: a number, or bytes with their length.
const varint = (value) => (value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]);
const number = (field, value) => [...varint(8 * field), ...varint(value)];
const bytes = (field, value) => {
  const content = typeof value === 'string' ? [...Buffer.from(value)] : value.flat();
  return [...varint(8 * field + 2), ...varint(content.length), ...content];
};
const value = (name, ...dims) => [
  bytes(1, name),
  bytes(2, [
    bytes(1, [
      number(1, 1),
      bytes(
        2,
        dims.map((dim) => bytes(1, number(1, dim))),
      ),
    ]),
  ]),
];
const tensor = (name, dims, values) => [
  dims.map((dim) => number(1, dim)).flat(),
  number(2, 1),
  bytes(8, name),
  bytes(9, [...new Uint8Array(Float32Array.from(values).buffer)]),
];
const node = (type, inputs, output, ...attributes) => [
  inputs.map((input) => bytes(1, input)).flat(),
  bytes(2, output),
  bytes(4, type),
  attributes.flat(),
];

/** A linear classifier that always answers 3. */
const ONNX = Buffer.from(
  [
    number(1, 8),
    bytes(8, number(2, 13)),
    bytes(7, [
      bytes(1, node('Flatten', ['x'], 'flat')),
      bytes(1, node('Gemm', ['flat', 'w', 'b'], 'y', bytes(5, [bytes(1, 'transB'), number(3, 1), number(20, 2)]))),
      bytes(1, node('Softmax', ['y'], 'p')),
      bytes(2, 'linear'),
      bytes(5, tensor('w', [10, 784], Array(7840).fill(0))),
      bytes(5, tensor('b', [10], [0, 0, 0, 9, 0, 0, 0, 0, 0, 0])),
      bytes(11, value('x', 1, 1, 28, 28)),
      bytes(12, value('p', 1, 10)),
    ]),
  ].flat(),
);

/** Drops a file on the page. */
const drop = (page, name, buffer, types = ['dragover', 'drop']) =>
  page.evaluate(
    ([name, values, types]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(values)], name));
      for (const type of types)
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    },
    [name, [...buffer], types],
  );

describe('files', () => {
  let page;
  withPage(async ({ browser, server }) => {
    page = await open(browser, server.address, { ...DESKTOP, bypassCSP: true });
  });

  test('opens a network of ONNX with its weights', async () => {
    await pick(page, 'Your own');
    await page.getByLabel('Network file').setInputFiles({ name: 'net.onnx', mimeType: '', buffer: ONNX });
    await page.getByText('Network ready').waitFor();
    await page.locator('.probabilities .best', { hasText: /^3100%$/ }).waitFor();
    assert.match(await page.locator('textarea').inputValue(), /"layers": \[/);
    await assertFits(page, 'onnx');
    await assertAccessible(page);
  });

  test('takes dropped networks and weights, and refuses other files', async () => {
    await pick(page, 'LeNet');
    await page.getByText('Network ready').waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Save')]);
    const chunks = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    await drop(page, 'w.safetensors', Buffer.concat(chunks));
    await page.getByText('Weights loaded').waitFor();

    await drop(page, 'net.onnx', ONNX, ['dragover']);
    await page.getByText('Drop a network, weights').waitFor();
    await drop(page, 'net.onnx', ONNX);
    await page.locator('.probabilities .best', { hasText: /^3100%$/ }).waitFor();
    assert.equal(await page.getByText('Drop a network, weights').count(), 0);

    await drop(page, 'cat.jpg', Buffer.from('cat'));
    await page.locator('.panel .message', { hasText: 'got cat.jpg' }).waitFor();
    await page.getByText('The file is not used').waitFor();
    await pick(page, 'Small MLP');
    await page.locator('.message').waitFor({ state: 'detached' });
    await press(page, 'Start');
    await until(page, 'Step', (value) => value > 2);
    assert.deepEqual(page.problems, []);
  });
});
