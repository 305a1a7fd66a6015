// SPDX-License-Identifier: MIT
// The Mandelbrot page: an author whose picture fills in tile by tile while a node computes, to the last one.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { calculate } from '../samples/mandelbrot.js';
import { Coordinator, skip } from './coordinator.js';
import { THEMES, assertAccessible, assertFits } from './look.js';
import { DESKTOP, PHONE, eventually, launch, login, openPlain, press } from './page.js';

const SIDE = 64, ACROSS = 12, DOWN = 9, TILES = ACROSS * DOWN;

describe('the Mandelbrot page', { skip }, () => {
  let browser, coordinator;
  before(async () => {
    browser = await launch();
    coordinator = await Coordinator.start();
  });
  after(async () => {
    await browser?.close();
    await coordinator?.close();
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    await coordinator.clear();
  });

  const open = (options = DESKTOP) => openPlain(browser, `${coordinator.url}/mandelbrot/`, options);
  /** A volunteer's page that computes on one thread, for a part of the time. */
  async function volunteer(share) {
    const page = await openPlain(browser, `${coordinator.url}/volunteer/`, DESKTOP);
    await page.evaluate((share) => localStorage.setItem('kaiseki.volunteer', JSON.stringify({ threads: 1, share })), share);
    await page.reload();
    await press(page, 'Start computing');
  }
  const canvas = (page) => page.getByRole('img', { name: /^The Mandelbrot set/ });
  /** How many tiles are there: the first point of each is opaque then. */
  const drawn = (page) => canvas(page).evaluate((canvas, side) => {
    const place = canvas.getContext('2d');
    let count = 0;
    for (let y = 0; y < canvas.height; y += side)
      for (let x = 0; x < canvas.width; x += side) count += place.getImageData(x, y, 1, 1).data[3] === 255;
    return count;
  }, SIDE);
  /** The colour of each point, four bytes. */
  const points = async (page) => Buffer.from(await canvas(page).evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let text = '';
    for (let at = 0; at < data.length; at += 8192) text += String.fromCharCode(...data.subarray(at, at + 8192));
    return text;
  }), 'latin1');

  test('fills in tile by tile, each where it belongs', async () => {
    const page = await open();
    await login(page, coordinator.token);
    await press(page, 'Compute');
    await page.getByText('Waiting for a node').waitFor();
    assert.equal(await drawn(page), 0);

    await volunteer(10);
    const seen = [];
    await eventually('the last tile', async () => seen[seen.push(await drawn(page)) - 1] === TILES);
    await page.getByText('Complete').waitFor();
    await page.getByText(`${TILES} of ${TILES} tiles`).waitFor();
    assert.deepEqual(seen, [...seen].sort((a, b) => a - b));
    assert.ok(new Set(seen).size > 4, `tiles come one after another: ${seen}`);

    // Points of as many iterations have one colour, and few numbers of iterations share theirs.
    const data = await points(page), step = 1 / 256, colours = new Map();
    const exact = calculate(Buffer.from(JSON.stringify({ left: -2.25, top: 1.125, step, width: SIDE * ACROSS, height: SIDE * DOWN, iterations: 255 })));
    for (const [i, n] of exact.entries()) {
      const colour = data.readUInt32BE(4 * i);
      if (!colours.has(n)) colours.set(n, colour);
      if (colours.get(n) !== colour) assert.fail(`point ${i} of ${n} iterations is ${colour}, others are ${colours.get(n)}`);
    }
    assert.ok(new Set(colours.values()).size > 50);
    assert.deepEqual(page.problems, []);
  });

  test('goes on when the coordinator is back, and begins anew with the next press', async () => {
    const page = await open();
    await login(page, coordinator.token);
    await press(page, 'Compute');
    await volunteer(10);
    await eventually('some tiles', async () => await drawn(page) > 2);
    await coordinator.kill();
    await coordinator.restart();
    await eventually('all tiles', async () => await drawn(page) === TILES);
    await page.getByText('Complete').waitFor();
    const ours = async () => (await coordinator.ask('GET', '/api/projects')).filter(({ name }) => name === 'Mandelbrot').map(({ project }) => project);
    const [first] = (await ours()).slice(-1);
    await press(page, 'Compute');
    await eventually('the last project gives way', async () => {
      const projects = await ours();
      return !projects.includes(first) && Math.max(...projects) > first;
    });
    await eventually('all tiles again', async () => await drawn(page) === TILES);
  });

  test('wants the author\'s token', async () => {
    const page = await open();
    await login(page, (await readFile(join(coordinator.folder, 'viewer.token'), 'utf8')).trim());
    await page.getByText('wants the author\'s token').waitFor();
    await login(page, 'password');
    await page.getByText('This is neither the author\'s token').waitFor();
    await login(page, coordinator.token);
    await page.getByRole('button', { name: 'Compute' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Compute' }).waitFor();
  });

  for (const [name, options] of [['phone', PHONE], ['desktop', DESKTOP]])
    for (const colorScheme of THEMES)
      test(`is for everyone: ${name}, ${colorScheme}`, async () => {
        const page = await open({ ...options, colorScheme, bypassCSP: true });
        await login(page, coordinator.token);
        await press(page, 'Compute');
        await volunteer(20);
        await eventually('a part', async () => await drawn(page) > TILES / 4);
        await assertFits(page, `mandelbrot-part-${name}-${colorScheme}`);
        await page.getByText('Complete').waitFor();
        await assertAccessible(page);
        await assertFits(page, `mandelbrot-${name}-${colorScheme}`);
      });
});
