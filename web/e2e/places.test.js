// SPDX-License-Identifier: MIT
// The page works with and without threads, offline and with the user's own data. It is accessible (axe).
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { LOOKS, assertAccessible, assertFits } from './look.js';
import { PAGE, PHONE, confirm, eventually, launch, open, openPlain, panel, pick, press, ready, until } from './page.js';
import { serve } from './server.js';

/** Loads MNIST from the folder that the page suggests once the server has answered. */
async function loadServed(page) {
  await pick(page, 'Address');
  const field = page.getByRole('textbox', { name: 'Folder' });
  await eventually('the address', async () => (await field.inputValue()) !== '');
  await press(page, 'Load data');
}

/** MNIST's files with `count` pictures: the position of a bright bar is the class. */
function bars(count) {
  const images = Buffer.alloc(16 + count * 784),
    labels = Buffer.alloc(8 + count);
  [0x803, count, 28, 28].forEach((value, i) => images.writeUInt32BE(value, 4 * i));
  [0x801, count].forEach((value, i) => labels.writeUInt32BE(value, 4 * i));
  for (let i = 0; i < count; ++i) {
    labels[8 + i] = i % 10;
    for (let y = 0; y < 28; ++y)
      images.fill(200 + (i % 50), 16 + i * 784 + y * 28 + 2 * (i % 10) + 4, 16 + i * 784 + y * 28 + 2 * (i % 10) + 6);
  }
  return { images, labels };
}

describe('the page', () => {
  let browser, server, alone, folder;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kaiseki-'));
    for (const [set, count] of [
      ['train', 1000],
      ['t10k', 200],
    ]) {
      const { images, labels } = bars(count);
      await writeFile(join(folder, `${set}-images-idx3-ubyte.gz`), gzipSync(images));
      await writeFile(join(folder, `${set}-labels-idx1-ubyte.gz`), gzipSync(labels));
    }
    browser = await launch();
    server = await serve({ '/': PAGE, '/data/mnist/': folder });
    alone = await serve({ '/': PAGE }, { isolated: false });
  });
  after(async () => {
    await browser?.close();
    await server?.close();
    await alone?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('uses the selected number of threads', async () => {
    const page = await open(browser, server.address);
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    await press(page, 'Start');
    await until(page, 'Step', (value) => value > 2);
    await press(page, 'Pause');
    await page.getByLabel('Threads').selectOption('1');
    await page.getByText('SIMD, 1 thread').waitFor();
    await ready(page);
    assert.equal(await page.getByRole('button', { name: 'Resume' }).count(), 1, 'the weights are kept');
    await page.getByLabel('Threads').selectOption('2');
    await page.getByText('SIMD, 2 threads').waitFor();
    await ready(page);
    await press(page, 'Resume');
    await until(page, 'Step', (value) => value > 20);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test('trains without shared memory', async () => {
    const page = await open(browser, alone.address);
    assert.equal(await page.evaluate(() => crossOriginIsolated), false);
    await page.getByText('SIMD, 1 thread').waitFor();
    await press(page, 'Start');
    await until(page, 'Step', (value) => value > 2);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test('opens and trains offline', async () => {
    const own = await serve({ '/': PAGE });
    const page = await open(browser, own.address);
    await page.getByText('Works offline').waitFor();
    await own.close();
    await assert.rejects(fetch(own.address));
    await page.reload();
    await ready(page);
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    await press(page, 'Start');
    await until(page, 'Step', (value) => value > 2);
    await page.goto(`${own.address}/index.html`);
    await ready(page);
    await page.context().close();
  });

  test('suggests the address of MNIST only if the server has it', async () => {
    for (const [address, expected] of [
      [server.address, '/data/mnist/'],
      [alone.address, ''],
    ]) {
      const page = await openPlain(browser, address);
      await ready(page);
      const asked = page.waitForResponse((response) => response.url().includes('/data/mnist/'));
      await pick(page, 'Address');
      assert.equal((await asked).ok(), expected !== '');
      const field = page.getByRole('textbox', { name: 'Folder' });
      if (expected) await eventually('the address', async () => (await field.inputValue()) === expected);
      await press(page, 'Test picture'); // the page has handled the answer
      assert.equal(await field.inputValue(), expected);
      await page.context().close();
    }
  });

  test('shows how much of the library it has received', async () => {
    const name = (await readdir(join(PAGE, 'assets'))).find((one) => /^kaiseki-threads.*\.wasm$/.test(one));
    const module = await readFile(join(PAGE, 'assets', name));
    let send;
    const slow = async (response) => {
      response.setHeader('Content-Type', 'application/wasm');
      response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
      response.write(module.subarray(0, 600_000));
      await new Promise((resolve) => (send = resolve));
      response.end(module.subarray(600_000));
    };
    const own = await serve({ '/': PAGE, [`/assets/${name}`]: slow });
    const page = await openPlain(browser, own.address);
    await page.getByText(/^Loading the library, 0\.[1-6] MB/).waitFor();
    await eventually('the request', () => send);
    send();
    await ready(page);
    assert.deepEqual(page.problems, []);
    await page.context().close();
    await own.close();
  });

  test('has at most 600 kB for a browser that accepts Brotli', async () => {
    const page = await openPlain(browser, 'about:blank', { serviceWorkers: 'block' }); // it fetches every file
    const paths = new Set();
    page.context().on('response', (response) => paths.add(new URL(response.url()).pathname));
    await page.goto(server.address);
    await ready(page);
    assert.ok(
      [...paths].some((path) => path.endsWith('.wasm')),
      [...paths].join(),
    );
    let bytes = 0;
    for (const path of paths) {
      const file = join(PAGE, path === '/' ? 'index.html' : path);
      bytes += (await stat(existsSync(`${file}.br`) ? `${file}.br` : file)).size;
    }
    console.log(`the page that trains: ${bytes} bytes in Brotli`);
    assert.ok(bytes > 300_000 && bytes <= 600_000, `${bytes} bytes`);
    await page.context().close();
  });

  test('reads MNIST from an address and from files, and fits it to the CIFAR net', async () => {
    const page = await open(browser, server.address);
    await pick(page, 'Small MLP');
    await loadServed(page);
    await page.getByText('1,000 training pictures, 200 test').waitFor();
    await press(page, 'Start');
    await until(page, 'Test accuracy', (value) => value >= 95);
    await pick(page, 'Files');
    const names = [
      'train-images-idx3-ubyte.gz',
      'train-labels-idx1-ubyte.gz',
      't10k-images-idx3-ubyte.gz',
      't10k-labels-idx1-ubyte.gz',
    ];
    const input = page.getByLabel('Select all files of the data set');
    await input.setInputFiles(names.map((name) => join(folder, name)));
    await confirm(page, 'Use the other data');
    await page.getByText('Data ready: MNIST').waitFor();
    await pick(page, 'CIFAR net');
    await page.getByText('Network ready: ').waitFor();
    await press(page, 'Start');
    await until(page, 'Step', (value) => value > 3);
    assert.deepEqual(page.problems, []);

    await input.setInputFiles([join(folder, names[0])]);
    await confirm(page, 'Use the other data');
    await page.getByText("expected MNIST's four files").waitFor();
    await page.context().close();
  });

  const mnist = join(process.env.KAISEKI_DATA ?? '', 'mnist');
  test(
    'learns MNIST',
    { skip: !existsSync(join(mnist, 'train-images-idx3-ubyte.gz')) && 'no MNIST in KAISEKI_DATA' },
    async () => {
      const own = await serve({ '/': PAGE, '/data/mnist/': mnist });
      const page = await open(browser, own.address);
      await pick(page, 'Small MLP');
      await loadServed(page);
      await page.getByText('60,000 training pictures, 2,000 test').waitFor();
      await press(page, 'Start');
      await until(page, 'Test accuracy', (value) => value >= 90);
      assert.deepEqual(page.problems, []);
      await page.context().close();
      await own.close();
    },
  );

  test('works with the keyboard alone', async () => {
    const page = await open(browser, server.address);
    const focused = () =>
      page.evaluate(
        () => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim(),
      );
    const tabTo = async (name) => {
      for (let i = 0; i < 40; ++i) {
        await page.keyboard.press('Tab');
        if (name.test(await focused())) return;
      }
      assert.fail(`Tab does not reach ${name}`);
    };
    await tabTo(/^Skip to training$/);
    await page.keyboard.press('Enter');
    await tabTo(/^Start$/);
    await page.keyboard.press('Enter');
    await until(page, 'Step', (value) => value > 2);
    await tabTo(/^Test picture$/);
    await page.keyboard.press('Space');
    await tabTo(/^conv1 /);
    await page.keyboard.press('ArrowDown');
    await page.getByRole('img', { name: 'The output of layer pool1 for the picture' }).waitFor();
    await tabTo(/layers; scrolls sideways$/);
    await page.getByText('select a layer here, or in the list next to Activations').waitFor();
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test('figures do not overlap at any width or length', async () => {
    const page = await open(browser, server.address, PHONE);
    await page.locator('.stats dd').evaluateAll((values) => {
      for (const [i, text] of ['1,234,567', '12,345', '123.456', '100.0%', '123.4k', '10:59:59'].entries())
        values[i].textContent = text;
    });
    for (const width of [320, 390, 640, 800, 1024, 1440]) {
      await page.setViewportSize({ width, height: 844 });
      // charts are resized one frame later
      await page.waitForFunction((width) => document.documentElement.scrollWidth === width, width);
      const spans = await page.locator('.stats > div').evaluateAll((stats) =>
        stats
          .map((stat) => {
            const range = document.createRange();
            const boxes = [...stat.children].flatMap(
              (part) => (range.selectNodeContents(part), [...range.getClientRects()]),
            );
            return [Math.min(...boxes.map(({ left }) => left)), Math.max(...boxes.map(({ right }) => right))];
          })
          .filter(([left]) => Number.isFinite(left)),
      );
      assert.equal(spans.length, width < 640 ? 3 : 6);
      spans.forEach(([left, right], i) =>
        assert.ok(
          left >= (spans[i - 1]?.[1] ?? -4) + 4 && right <= width,
          `at ${width} pixels: ${JSON.stringify(spans)}`,
        ),
      );
    }
    await page.context().close();
  });

  for (const { name, ...options } of LOOKS)
    test(`axe finds nothing serious: ${name}`, async () => {
      const page = await open(browser, server.address, { ...options, bypassCSP: true });
      for (const title of ['Network', 'Data', 'Training', 'Weights']) await panel(page, title);
      await pick(page, 'Your own');
      await page.locator('textarea').fill('{');
      await press(page, 'Use this network');
      await page.locator('.problem').waitFor();
      await assertAccessible(page);
      await press(page, 'Start');
      await until(page, 'Test accuracy', (value) => value > 0);
      await press(page, 'Pause');
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      await assertAccessible(page);
      await assertFits(page, `training-${name}`);
      await page.context().close();
    });
});
