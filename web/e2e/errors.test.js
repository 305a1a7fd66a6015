// SPDX-License-Identifier: MIT
// Hostile and broken input: the error appears at its place with the library's message, and the page still works.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  DESKTOP,
  PAGE,
  confirm,
  eventually,
  newContext,
  open,
  paste,
  pick,
  press,
  ready,
  reset,
  setEpochs,
  until,
  withPage,
} from './page.js';
import { serve } from './server.js';
import { quiet, watch } from './worker.js';

/** A network whose first layer is a convolution. */
const convolution = (params) =>
  JSON.stringify({
    inputs: { image: { shape: [1, 28, 28] } },
    layers: [
      { name: 'wide', type: 'convolution', ...params },
      { name: 'mean', type: 'global_pooling' },
      { name: 'classes', type: 'fully_connected', output_size: 10 },
    ],
  });
const HUGE = convolution({ output_channels: 60000, kernel_size: 3, padding: 1 });

function idx(dims, bytes) {
  const file = Buffer.alloc(4 + 4 * dims.length + bytes, 7);
  [0x800 + dims.length, ...dims].forEach((value, i) => file.writeUInt32BE(value, 4 * i));
  return file;
}
const images = idx([10, 28, 28], 7840),
  labels = idx([10], 10),
  file = (name, buffer) => ({ name, mimeType: '', buffer });
const mnist = (images, labels, testImages = images) => [
  file('train-images-idx3-ubyte', images),
  file('train-labels-idx1-ubyte', labels),
  file('t10k-images-idx3-ubyte', testImages),
  file('t10k-labels-idx1-ubyte', labels),
];

describe('errors', () => {
  let browser, server, page;
  withPage(async (started) => {
    ({ browser, server } = started);
    page = await open(browser, server.address);
  });

  /** Checks that the page still trains. */
  async function trains() {
    await ready(page);
    await setEpochs(page, 100_000); // a network's recipe may have fewer
    await press(page, (await page.getByRole('button', { name: 'Resume' }).count()) ? 'Resume' : 'Start');
    const step = await until(page, 'Step', (value) => value > 0);
    await until(page, 'Step', (value) => value > step);
    await press(page, 'Pause');
    await reset(page);
    await until(page, 'Step', (value) => value === 0);
  }

  const NETWORKS = [
    ['{', /line 1: expected/],
    [
      '{\n  "inputs": {"image": {"shape": [1, 28, 28]}},\n  "layers": [\n    {"type": "relu"},\n    {"type": "convolution", "output_channels": 4, "kernel_size": 3, "strid": 2}\n  ]\n}',
      /layers\[1\]\.strid: .*did you mean "stride"\?/,
    ],
    ['[]', /expected a list of 1 to 10000 layers/],
    ['['.repeat(20000), /line 1: expected at most 64 levels/],
    [
      '{"inputs": {"image": {"shape": [1, 16777217, 1]}}, "layers": [{"type": "relu"}]}',
      /inputs\.image\.shape: expected a list of 1 to 7 integers/,
    ],
    [
      convolution({ output_channels: 1, kernel_size: 60, padding: 3000 }),
      /\[network\] expected at most 100G operations for a picture/,
    ],
    [
      '{"inputs": {"image": {"shape": [1, 4096, 4096]}}, "layers": [{"type": "global_pooling"}, {"type": "fully_connected", "output_size": 10}]}',
      /\[data\] expected pictures of at most 1,073,741,824 values together, got 3,000 of \[1, 4096, 4096\]/,
    ],
    [
      '{"inputs": {"image": {"shape": [7]}}, "layers": [{"type": "fully_connected", "output_size": 10}]}',
      /expected a network whose input is a picture/,
    ],
  ];
  for (const [json, message] of NETWORKS)
    test(`rejects a network: ${json.slice(0, 40).replaceAll('\n', ' ')}`, async () => {
      await paste(page, json);
      await page.locator('.panel .message', { hasText: message }).waitFor();
    });

  test('shows and selects the line of an error', async () => {
    await paste(page, NETWORKS[1][0]);
    await page.locator('.excerpt', { hasText: 'line 5' }).waitFor();
    const selected = () =>
      page.locator('textarea').evaluate((area) => area.value.slice(area.selectionStart, area.selectionEnd));
    await eventually(
      'the selection',
      async () =>
        (await selected()) === '    {"type": "convolution", "output_channels": 4, "kernel_size": 3, "strid": 2}',
    );
    await trains();
  });

  test('rejects weights that are invalid, cut off, or of another network', async () => {
    const weights = page.locator('details', { has: page.getByRole('heading', { name: 'Weights' }) });
    const input = page.getByLabel('Weights file');
    const header = (json, extra = 0) => {
      const bytes = Buffer.alloc(8 + json.length + extra);
      bytes.writeBigUInt64LE(BigInt(json.length));
      bytes.write(json, 8);
      return bytes;
    };
    const files = [
      Buffer.from('not weights'),
      Buffer.alloc(0),
      Buffer.alloc(64, 255),
      header('{"conv1.weight":{"dtype":"F32","shape":[20,1,5,5],"data_offsets":[0,2000]}}', 10),
      header('{"other.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}', 8),
      header('{"conv1.weight":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}'),
    ];
    for (const [i, buffer] of files.entries()) {
      await input.setInputFiles({ name: `${i}.safetensors`, mimeType: '', buffer });
      const problem = weights.locator('.message');
      await problem.waitFor();
      assert.match(await problem.textContent(), /\w/);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await problem.waitFor({ state: 'detached' });
    }
    await trains();
  });

  test('rejects pictures and labels that are invalid, cut off, or claim to be many', async () => {
    await pick(page, 'Files');
    const data = page.locator('details', { has: page.getByRole('heading', { name: 'Data' }) });
    const input = page.getByLabel('Select all files of the data set');
    const cases = [
      mnist(Buffer.from('no pictures'), labels),
      mnist(Buffer.alloc(0), labels),
      mnist(images.subarray(0, 1000), labels),
      mnist(idx([0xffffffff, 28, 28], 784), labels),
      mnist(idx([1, 65535, 65535], 784), idx([1], 1)),
      mnist(idx([10, 0, 28], 0), labels),
      mnist(labels, labels),
      mnist(images, idx([9], 9)),
      mnist(images, images),
      mnist(gzipSync(images).subarray(0, 40), labels),
      mnist(Buffer.concat([gzipSync(images).subarray(0, 20), Buffer.alloc(50, 255)]), labels),
      [file('data_batch_1.bin', Buffer.alloc(100)), file('test_batch.bin', Buffer.alloc(3073))],
      [file('data_batch_1.bin', Buffer.alloc(3073, 255)), file('test_batch.bin', Buffer.alloc(3073))],
    ];
    for (const [i, files] of cases.entries()) {
      await input.setInputFiles(files);
      await data
        .locator('.message')
        .waitFor()
        .catch(() => assert.fail(`files ${i} are not refused`));
      await input.setInputFiles(mnist(images, labels));
      await data.locator('.message').waitFor({ state: 'detached' });
      await page.getByText('10 training pictures, 10 test').waitFor();
    }
    assert.equal(await input.inputValue(), '', 'can load the same files again');
    await input.setInputFiles([]);
    await Promise.all([page.waitForEvent('download'), press(page, 'Save')]); // resolves after the earlier actions
    assert.equal(await data.locator('.message').count(), 0, 'shows no error when no file is selected');
    await pick(page, 'Built-in digits');
    await page.getByText('3,000 training pictures').waitFor();
    await trains();
  });

  test('frees data whose second half is damaged', async () => {
    const context = await newContext(browser, DESKTOP);
    await watch(context);
    const other = await context.newPage();
    await other.goto(server.address);
    await ready(other);
    await pick(other, 'Files');
    const input = other.getByLabel('Select all files of the data set');
    const { handles } = await quiet(other);
    const cifar = (bytes) => [
      file('data_batch_1.bin', Buffer.alloc(3073)),
      file('test_batch.bin', Buffer.alloc(bytes)),
    ];
    for (const [files, message] of [
      [mnist(images, labels, labels), /expected pictures/],
      [cifar(100), /expected records/],
    ]) {
      await input.setInputFiles(files);
      await other.locator('.panel .message', { hasText: message }).waitFor();
      assert.equal((await quiet(other)).handles, handles);
    }
    await context.close();
  });

  test('cancels a stalled download, or replaces it by other data', async () => {
    const waiting = new Set();
    const stall = (response) => {
      waiting.add(response.on('close', () => waiting.delete(response)));
      response.write('the first bytes');
    };
    const own = await serve({ '/': PAGE, '/stalled/': stall });
    try {
      const page = await open(browser, own.address);
      const load = async () => {
        await pick(page, 'Address');
        await page.getByRole('textbox', { name: 'Folder' }).fill('/stalled/');
        await press(page, 'Load data');
        await confirm(page, 'Use the other data');
        await eventually('two downloads in progress', () => waiting.size === 2);
      };
      await press(page, 'Start');
      await until(page, 'Step', (value) => value > 2);
      await load();
      await press(page, 'Pause');
      await page.getByText('Resume').waitFor();
      await press(page, 'Cancel');
      await page.getByText('Loading data was cancelled').waitFor();
      await eventually('no download in progress', () => waiting.size === 0);
      await press(page, 'Resume');
      const step = await until(page, 'Step', (value) => value > 2);
      await until(page, 'Step', (value) => value > step);

      await load();
      await pick(page, 'Built-in digits');
      await confirm(page, 'Use the other data');
      await page.getByText('Data ready: Built-in digits').waitFor();
      await eventually('no download in progress', () => waiting.size === 0);
      assert.equal(
        (await page.locator('.problem').count()) + (await page.getByRole('button', { name: 'Cancel' }).count()),
        0,
      );
      // The page asks whether the server has MNIST.
      assert.deepEqual(
        page.problems.filter((text) => !text.includes('404')),
        [],
      );
      await page.context().close();
    } finally {
      await own.close();
    }
  });

  test('reports that memory has run out', async () => {
    await paste(page, HUGE);
    await page.getByText('Network ready: ').waitFor();
    await press(page, 'Start');
    const problem = page.locator('.run .message');
    await problem.waitFor();
    assert.match(await problem.textContent(), /memory|bytes/i);
    await pick(page, 'LeNet');
    await problem.waitFor({ state: 'detached' });
    await trains();
    assert.deepEqual(page.problems, []);
  });

  test('draws few of a million values, and does not request more', async () => {
    const gives = (layer) => page.getByRole('img', { name: `The output of layer ${layer} for the picture` });
    await paste(page, convolution({ output_channels: 1, kernel_size: 1, padding: 2000 }));
    await gives('mean').waitFor();
    assert.deepEqual(await page.locator('.inside option').allTextContents(), ['mean (1 × 1 × 1)', 'classes (10)']);
    await paste(page, convolution({ output_channels: 1, kernel_size: 1, padding: 1000 }));
    await gives('wide').waitFor();
    const size = await gives('wide').evaluate(({ width, height }) => width * height);
    assert.ok(size > 1000 && size <= 2 ** 18, `${size} pixels`);
    assert.deepEqual(page.problems, []);
    await pick(page, 'LeNet');
    await trains();
  });

  test('shows no confusion matrix for too many classes', async () => {
    await paste(
      page,
      '{"inputs": {"image": {"shape": [1, 28, 28]}}, "layers": [{"type": "global_pooling"}, {"type": "fully_connected", "output_size": 200000}, {"type": "softmax_cross_entropy"}]}',
    );
    await page.getByText('Network ready: ').waitFor();
    await page.getByText('200,000 classes are too many to show.').waitFor();
    await press(page, 'Test picture');
    await page.locator('.probabilities .share', { hasText: '%' }).first().waitFor();
    await press(page, 'Start');
    await page.getByText(/% of 1,000 test pictures/).waitFor();
    await press(page, 'Pause');
    assert.deepEqual(page.problems, []);
    await pick(page, 'LeNet');
    await confirm(page, 'Use the other network');
    await page.getByText('Network ready').waitFor();
    await trains();
  });

  test('loads the library after a first failure', async () => {
    const context = await newContext(browser, { serviceWorkers: 'block' });
    const other = await context.newPage();
    await context.route('**/*.wasm', (route) => route.abort());
    await other.goto(server.address);
    await other.locator('.run .message').waitFor();
    await context.unroute('**/*.wasm');
    await press(other, 'Load again');
    await ready(other);
    assert.equal(await other.locator('.problem').count(), 0);
    await context.close();
  });

  test('rejects a network with another number of classes than the data', async () => {
    await paste(
      page,
      '{"inputs": {"image": {"shape": [1, 28, 28]}}, "layers": [{"type": "fully_connected", "output_size": 3}]}',
    );
    await page.getByText('Network ready: ').waitFor();
    await press(page, 'Start');
    await page.locator('.run .message', { hasText: /expected labels from 0 to 2/ }).waitFor();
    await pick(page, 'Small MLP');
    await trains();
  });
});
