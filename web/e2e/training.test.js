// SPDX-License-Identifier: MIT
// LeNet learns the built-in digits, recognizes drawn ones, and saves its weights to a file.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import {
  DESKTOP,
  ONE,
  PHONE,
  SEVEN,
  ZERO,
  best,
  panel,
  draw,
  drawn,
  open,
  paste,
  pick,
  press,
  reset,
  setEpochs,
  stat,
  until,
  withPage,
} from './page.js';

/** The names of the tensors in a safetensors file. */
function names(bytes) {
  const length = Number(bytes.readBigUInt64LE());
  return Object.keys(JSON.parse(bytes.subarray(8, 8 + length)))
    .filter((name) => name !== '__metadata__')
    .sort();
}

describe('training', () => {
  let server, browser, file;
  withPage((started) => ({ browser, server } = started));

  test('learns digits to 95 %, recognizes drawn ones, pauses, saves and resets', async () => {
    const page = await open(browser, server.address);
    const chart = (title) => page.locator('.chart', { has: page.getByRole('heading', { name: title }) });
    /** Counts red, yellow and green pixels. The axes have none. */
    const curves = (title) =>
      chart(title)
        .locator('canvas')
        .evaluate((canvas) => {
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          let count = 0;
          for (let i = 0; i < data.length; i += 4)
            count += data[i + 3] > 128 && Math.max(...data.slice(i, i + 3)) - Math.min(...data.slice(i, i + 3)) > 60;
          return count;
        });
    assert.deepEqual([await curves('Loss'), await curves('Accuracy')], [0, 0]);
    await page.getByRole('img', { name: 'No loss yet' }).waitFor();
    await press(page, 'Start');
    await until(page, 'Test accuracy', (value) => value >= 95);
    await page.getByRole('img', { name: /^Loss over [1-9]\d* steps, now \d\.\d{3}$/ }).waitFor();
    await page.getByRole('img', { name: /^Test accuracy [1-9][\d.]+%$/ }).waitFor();
    await page
      .locator('.stats > div', { hasText: 'Images/s' })
      .getByText(/^[1-9][\d.]*k?$/)
      .waitFor();
    for (const title of ['Loss', 'Accuracy']) assert.ok((await curves(title)) > 100, title);

    for (const [strokes, digit] of [
      [ZERO, '0'],
      [ONE, '1'],
      [SEVEN, '7'],
    ]) {
      await draw(page, strokes);
      await page.locator('.probabilities .best', { hasText: new RegExp(`^${digit}`) }).waitFor();
      await press(page, 'Clear the drawing');
    }
    await page.locator('.confusion td.right').first().getByText(/[1-9]/).waitFor();
    await press(page, 'Test picture');
    await drawn(page.getByRole('img', { name: '20 filters: green is positive, red is negative' }), 50);
    await drawn(page.getByRole('img', { name: 'The output of layer conv1 for the picture' }), 50);
    const node = (name) =>
      page.locator('.diagram .node', { has: page.locator('.node-name', { hasText: new RegExp(`^${name}$`) }) });
    assert.equal(await node('conv1').locator('.node-shape').textContent(), '20 × 24 × 24');
    await node('pool1').click();
    await drawn(page.getByRole('img', { name: 'The output of layer pool1 for the picture' }), 50);
    assert.equal(await page.locator('.inside select').inputValue(), 'pool1');

    await press(page, 'Pause');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    const paused = await stat(page, 'Step');

    const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Save')]);
    assert.equal(download.suggestedFilename(), 'weights.safetensors');
    file = await readFile(await download.path());
    assert.equal(await stat(page, 'Step'), paused);
    assert.deepEqual(names(file), [
      'conv1.bias',
      'conv1.weight',
      'conv2.bias',
      'conv2.weight',
      'fc3.bias',
      'fc3.weight',
      'fc4.bias',
      'fc4.weight',
    ]);

    await press(page, 'Resume');
    await until(page, 'Step', (value) => value > paused);
    await reset(page);
    await until(page, 'Step', (value) => value === 0);
    assert.ok(Number.isNaN(await stat(page, 'Test accuracy')));
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test('a reloaded page on a phone loads the file and has the same accuracy', async () => {
    const page = await open(browser, server.address, PHONE);
    await page.reload();
    await (
      await panel(page, 'Weights')
    )
      .locator('input')
      .setInputFiles({ name: 'w.safetensors', mimeType: '', buffer: file });
    await until(page, 'Test accuracy', (value) => value >= 95);
    assert.equal(await stat(page, 'Step'), 0);

    // Draws a one with a finger.
    await page.locator('.pen').scrollIntoViewIfNeeded();
    const box = await page.locator('.pen').boundingBox();
    const client = await page.context().newCDPSession(page);
    const touch = (type, y) =>
      client.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: y === undefined ? [] : [{ x: box.x + 0.5 * box.width, y: box.y + y * box.height }],
      });
    await touch('touchStart', 0.2);
    for (let y = 0.25; y < 0.82; y += 0.05) await touch('touchMove', y);
    await touch('touchEnd');
    await page.locator('.probabilities .best').waitFor();
    await press(page, 'Start'); // until it recognizes this one too
    await page.locator('.probabilities .best', { hasText: /^1/ }).waitFor();
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test('finishes after the epochs of the panel, and trains as many again', async () => {
    const page = await open(browser, server.address, DESKTOP);
    await page.getByText('From the recipe: cosine schedule, weight decay 0.0005.').waitFor();
    await pick(page, 'Small MLP');
    await page.getByText('Network ready').waitFor();
    await setEpochs(page, 1);
    await press(page, 'Start');
    await page.getByText('Finished after 1 epoch', { exact: true }).waitFor();
    assert.equal(await stat(page, 'Step'), 60);
    await press(page, '1 epoch more');
    await page.getByText('Finished after 2 epochs').waitFor();
    assert.deepEqual([await stat(page, 'Step'), await stat(page, 'Epoch')], [120, 2]);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test('weights inside a network are taken', async () => {
    const page = await open(browser, server.address);
    const floats = (...values) => Buffer.from(Float32Array.from(values).buffer).toString('base64');
    await paste(
      page,
      JSON.stringify({
        layer_params: [
          {
            type: 'conv',
            params: { input_rows: 28, input_cols: 28, input_depth: 1, output_depth: 1, window_size: 28 },
          },
          { type: 'fc', params: { input_size: 1, output_size: 10 } },
          { type: 'act', params: { activation_type: 'softmax' } },
        ],
        layer_status: [
          { w: floats(...Array(784).fill(0)), b: floats(0) },
          { w: floats(...Array(10).fill(0)), b: floats(0, 0, 0, 9, 0, 0, 0, 0, 0, 0) },
          {},
        ],
      }),
    );
    await page.locator('.probabilities .best', { hasText: /^3100%$/ }).waitFor();
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test('one finger draws, or the main button', async () => {
    const page = await open(browser, server.address, PHONE);
    const paper = page.locator('.pen');
    await paper.scrollIntoViewIfNeeded();
    const box = await paper.boundingBox();
    const at = (x, y) => [box.x + x * box.width, box.y + y * box.height];
    await page.mouse.move(...at(0.3, 0.3));
    await page.mouse.down({ button: 'right' });
    await page.mouse.move(...at(0.7, 0.7));
    await page.mouse.up({ button: 'right' });
    assert.ok(await page.getByRole('button', { name: 'Clear the drawing' }).isDisabled());

    const client = await page.context().newCDPSession(page);
    const touch = (type, ...points) =>
      client.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: points.map((point, id) => ({ x: at(...point)[0], y: at(...point)[1], id })),
      });
    await touch('touchStart', [0.2, 0.2]);
    await touch('touchStart', [0.2, 0.2], [0.8, 0.8]);
    await touch('touchMove', [0.2, 0.8], [0.8, 0.2]);
    await touch('touchEnd');
    await page.getByRole('button', { name: 'Clear the drawing' }).and(page.locator(':enabled')).waitFor();
    const drawn = (x, y) =>
      paper.evaluate(
        (canvas, [x, y]) => canvas.getContext('2d').getImageData(x * canvas.width, y * canvas.height, 1, 1).data[3] > 0,
        [x, y],
      );
    const found = await Promise.all(
      [
        [0.2, 0.2],
        [0.2, 0.7],
        [0.8, 0.8],
        [0.8, 0.3],
        [0.5, 0.5],
      ].map((point) => drawn(...point)),
    );
    assert.deepEqual(found, [true, true, false, false, false]);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test('learning rate and batch size change while it runs; the optimizer while it does not', async () => {
    const page = await open(browser, server.address, DESKTOP);
    await pick(page, 'Small MLP');
    await page.getByText('Network ready').waitFor();
    await press(page, 'Start');
    await until(page, 'Step', (value) => value > 5);
    const slider = page.getByRole('slider', { name: /Learning rate/ });
    await slider.focus();
    await page.keyboard.press('ArrowLeft');
    assert.equal(await slider.getAttribute('aria-valuetext'), '0.045');
    await page.getByLabel('Batch size').selectOption('200');
    assert.ok(await page.getByLabel('Optimizer').isDisabled());
    const step = await stat(page, 'Step');
    await until(page, 'Step', (value) => value > step + 5);
    await press(page, 'Pause');
    await page.getByLabel('Optimizer').selectOption('adam');
    assert.equal(await slider.getAttribute('aria-valuetext'), '0.001');
    await press(page, 'Resume');
    await until(page, 'Test accuracy', (value) => value >= 80);
    assert.equal(await best(page).then((name) => /^\d$/.test(name)), true);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });
});
