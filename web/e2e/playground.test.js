// SPDX-License-Identifier: MIT
// The playground: points by mouse, finger and keyboard, every model's decisions, and the components of digits.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { LOOKS, assertAccessible, assertFits } from './look.js';
import { DESKTOP, PAGE, PHONE, drawn, eventually, openPlain, press, stat, withPage } from './page.js';
import { serve } from './server.js';

/** Titles as the page has them, and the least share of points that each classifier gets right. */
const CLASSIFIERS = {
  SVM: 95,
  'Logistic regression': 75,
  'Nearest neighbors': 95,
  'Decision tree': 90,
  'Random forest': 95,
  'Naive Bayes': 75,
};
const CLUSTERINGS = ['k-means', 'Gaussian mixture'];

/** Runs before the page's scripts. Notes the newest request to the worker, and the newest request with its last answer. */
function watchWorker() {
  globalThis.Worker = class extends globalThis.Worker {
    constructor(...options) {
      super(...options);
      this.addEventListener('message', ({ data }) => {
        if (data.last) globalThis.answered = data.id;
      });
    }
    postMessage(request) {
      globalThis.requested = request.id;
      super.postMessage(request);
    }
  };
}

describe('the playground', () => {
  let browser, server;
  withPage((started) => ({ browser, server } = started));

  const plane = (page) => page.getByRole('application', { name: /^The plane/ });
  const points = (page) => stat(page, 'Points');
  const chooseModel = (page, title) => page.getByRole('combobox', { name: 'Model', exact: true }).selectOption(title);
  const fitted = (page) =>
    page.locator('.stats > div', { hasText: 'Fitted in' }).filter({ hasText: /\d ms/ }).waitFor();
  /** Waits until the plane has its fine drawing. The page must have started with watchWorker(). */
  const finelyDrawn = (page) =>
    eventually('the fine drawing', () =>
      page.evaluate(() => globalThis.requested > 0 && globalThis.answered === globalThis.requested),
    );
  /** The picture of the plane, to see that it changes. */
  const image = (page) => plane(page).evaluate((canvas) => canvas.toDataURL());
  async function open(options = DESKTOP, hash = '') {
    const page = await openPlain(browser, `${server.address}/playground/${hash}`, options);
    if (!hash) await fitted(page);
    return page;
  }
  const box = async (page) => {
    await plane(page).scrollIntoViewIfNeeded();
    return plane(page).boundingBox();
  };

  test('loads soon', async () => {
    const start = performance.now();
    const page = await open(PHONE);
    const spent = performance.now() - start;
    console.log(`# loaded and drawn after ${Math.round(spent)} ms, without compression`);
    assert.ok(spent < 6000, `${spent} ms; about 1,300 on an idle machine`);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test('every model decides, and its settings change the decisions', async () => {
    const page = await open();
    for (const [title, least] of Object.entries(CLASSIFIERS)) {
      await chooseModel(page, title);
      await eventually(title, async () => (await stat(page, 'Accuracy')) >= least);
      await drawn(plane(page), 30);
    }
    await page.getByRole('button', { name: 'Blobs' }).click();
    for (const title of CLUSTERINGS) {
      await chooseModel(page, title);
      await fitted(page);
      const before = await image(page);
      await page.getByRole('slider').first().fill('5');
      await eventually(`${title} changes`, async () => (await image(page)) !== before);
    }
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test('the mouse adds points, one after another while it is dragged, and erases them', async () => {
    const page = await open();
    await press(page, 'Clear');
    await page.getByText('Add points of two classes').waitFor();
    const { x, y, width } = await box(page);
    await page.mouse.click(x + width / 4, y + width / 4);
    assert.equal(await points(page), 1);
    await page.getByRole('radio', { name: 'Class 2' }).check({ force: true });
    await page.mouse.move(x + width / 2, y + width / 2);
    await page.mouse.down();
    await page.mouse.move(x + 0.9 * width, y + 0.9 * width, { steps: 20 });
    await page.mouse.up();
    const added = await points(page);
    assert.ok(added > 6, `${added} points`);
    await fitted(page);
    assert.equal(await stat(page, 'Accuracy'), 100);
    await page.getByRole('radio', { name: 'Erase' }).check({ force: true });
    await page.mouse.click(x + width / 2, y + width / 2);
    assert.equal(await points(page), added - 1);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test('a finger adds points', async () => {
    const page = await open(PHONE);
    await press(page, 'Clear');
    const { x, y, width } = await box(page);
    await page.touchscreen.tap(x + width / 4, y + width / 2);
    await eventually('the point', async () => (await points(page)) === 1);
    await page.context().close();
  });

  test('the keyboard adds and removes points', async () => {
    const page = await open();
    await press(page, 'Clear');
    await plane(page).focus();
    await page.getByText('With the keyboard').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('2');
    for (let i = 0; i < 6; ++i) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByText('Added a point of class 2, 2 in all.').waitFor();
    await fitted(page);
    await page.keyboard.press('Delete');
    await page.getByText('Removed a point, 1 left.').waitFor();
    assert.equal(await points(page), 1);
    await page.context().close();
  });

  test('the page stays smooth while points are drawn', async () => {
    const page = await open();
    await chooseModel(page, 'Random forest');
    await fitted(page);
    const { x, y, width } = await box(page);
    await page.evaluate(() => {
      globalThis.longest = 0;
      let last = performance.now();
      const look = (now) => {
        globalThis.longest = Math.max(globalThis.longest, now - last);
        last = now;
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    await page.mouse.move(x + 0.1 * width, y + 0.2 * width);
    await page.mouse.down();
    await page.mouse.move(x + 0.9 * width, y + 0.8 * width, { steps: 40 });
    await page.mouse.up();
    const longest = await page.evaluate(() => globalThis.longest);
    console.log(`# the longest time between two frames: ${Math.round(longest)} ms`);
    assert.ok(longest > 0 && longest < 500, `${longest} ms between two frames`);
    await page.context().close();
  });

  test('digits are placed by their components, and one is chosen', async () => {
    const page = await open(DESKTOP, '#digits');
    await page.getByText(/1,500 pictures of 784 pixels/).waitFor();
    assert.equal(await page.locator('.components li').count(), 8);
    const plot = page.getByRole('application', { name: /^Pictures by component 1 and component 2/ });
    await drawn(plot, 10);
    const heading = page.getByRole('heading', { name: /^Picture \d+: a \d$/ });
    const first = await heading.textContent();
    const { x, y, width, height } = await plot.boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    await eventually('another picture', async () => (await heading.textContent()) !== first);
    const second = await heading.textContent();
    await plot.focus();
    await page.keyboard.press('ArrowRight');
    await eventually('the picture beside it', async () => (await heading.textContent()) !== second);
    await page.getByRole('combobox', { name: 'Across' }).selectOption('Component 3');
    await page.getByRole('application', { name: /component 3/ }).waitFor();
    await page.getByRole('button', { name: '7', exact: true }).click();
    assert.equal(await page.getByRole('button', { name: '7', exact: true }).getAttribute('aria-pressed'), 'true');
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  test('MNIST comes from the server or from files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kaiseki-'));
    const count = 40,
      head = (magic, ...dims) =>
        Buffer.concat([magic, ...dims].map((value) => Buffer.from(Uint32Array.of(value).buffer).reverse()));
    const images = Buffer.concat([
      head(0x803, count, 6, 5),
      Buffer.from(Array.from({ length: count * 30 }, (_, i) => (i * i * 7) % 256)),
    ]);
    const labels = Buffer.concat([head(0x801, count), Buffer.from(Array.from({ length: count }, (_, i) => i % 10))]);
    const names = ['train-images-idx3-ubyte.gz', 'train-labels-idx1-ubyte.gz'].map((name) => join(folder, name));
    await writeFile(names[0], gzipSync(images));
    await writeFile(names[1], gzipSync(labels));
    const own = await serve({ '/': PAGE, '/data/mnist/': folder });
    try {
      const page = await openPlain(browser, `${own.address}/playground/#digits`, DESKTOP);
      await page.getByRole('radio', { name: /^MNIST/ }).check();
      await page.getByText(/40 pictures of 30 pixels/).waitFor();
      await page.getByRole('radio', { name: /^Built-in/ }).check();
      await page.getByText(/1,500 pictures/).waitFor();
      const files = page.locator('input[type=file]');
      await files.setInputFiles(names);
      await page.getByText(/40 pictures of 30 pixels/).waitFor();
      await files.setInputFiles(names[0]);
      await page.getByText(/expected train-images-idx3-ubyte and train-labels/).waitFor();
      assert.deepEqual(page.problems, []);
      await page.context().close();
    } finally {
      await own.close();
      await rm(folder, { recursive: true });
    }
  });

  for (const { name, ...options } of LOOKS)
    test(`is accessible: ${name}`, async () => {
      const page = await open({ ...options, bypassCSP: true, script: watchWorker });
      const look = async (what) => {
        await assertAccessible(page);
        await assertFits(page, `playground-${what}-${name}`);
      };
      await finelyDrawn(page);
      await look('svm');
      await press(page, 'Blobs');
      for (const [title, what] of [
        ['k-means', 'k-means'],
        ['Gaussian mixture', 'mixture'],
        ['Random forest', 'forest'],
      ]) {
        await chooseModel(page, title);
        await finelyDrawn(page);
        await assertFits(page, `playground-${what}-${name}`);
      }
      await page.getByRole('link', { name: 'Digits' }).click();
      await page.getByText(/1,500 pictures/).waitFor();
      await drawn(page.getByRole('application', { name: /^Pictures by component 1/ }), 10);
      await look('digits');
      await page.context().close();
    });
});
