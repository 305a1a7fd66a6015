// SPDX-License-Identifier: MIT
// The Mandelbrot page: the picture fills in tile by tile while a node computes, up to the last tile.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { calculate } from '../samples/mandelbrot.js';
import { skip, withCoordinator } from './coordinator.js';
import { LOOKS, assertAccessible, assertFits } from './look.js';
import { DESKTOP, eventually, login, openPlain, press } from './page.js';

const SIDE = 64,
  ACROSS = 12,
  DOWN = 9,
  TILES = ACROSS * DOWN;

describe('the Mandelbrot page', { skip }, () => {
  let browser, coordinator;
  withCoordinator((started) => ({ browser, coordinator } = started));

  const open = (options = DESKTOP) => openPlain(browser, `${coordinator.url}/mandelbrot/`, options);
  const ADDRESSES = ['127.0.0.1', '127.0.0.2'];
  /** Volunteers' pages at two addresses, because results of nodes without the token are compared. */
  const volunteers = (share) => Promise.all(ADDRESSES.map((address) => volunteer(share, address)));
  /** Computes on one thread, for a share of the time. */
  async function volunteer(share, address) {
    const page = await openPlain(browser, `${await coordinator.urlFor(address)}/volunteer/`, DESKTOP);
    await page.evaluate(
      (share) => localStorage.setItem('kaiseki.volunteer', JSON.stringify({ threads: 1, share })),
      share,
    );
    await page.reload();
    await press(page, 'Start computing');
    return page;
  }
  const canvas = (page) => page.getByRole('img', { name: /^The Mandelbrot set/ });
  /** Counts the tiles that have arrived: their first point is opaque. */
  const drawn = (page) =>
    canvas(page).evaluate((canvas, side) => {
      const place = canvas.getContext('2d');
      let count = 0;
      for (let y = 0; y < canvas.height; y += side)
        for (let x = 0; x < canvas.width; x += side) count += place.getImageData(x, y, 1, 1).data[3] === 255;
      return count;
    }, SIDE);
  /** The color of each point, four bytes. */
  const points = async (page) =>
    Buffer.from(
      await canvas(page).evaluate((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        let text = '';
        for (let at = 0; at < data.length; at += 8192) text += String.fromCharCode(...data.subarray(at, at + 8192));
        return text;
      }),
      'latin1',
    );

  test('draws each tile at its place as it arrives', async () => {
    const page = await open();
    await login(page, coordinator.token);
    await press(page, 'Compute');
    await page.getByText('Waiting for a node').waitFor();
    assert.equal(await drawn(page), 0);

    await volunteer(10, ADDRESSES[0]);
    const why = /^Waiting for another node: expected nodes of 2 addresses, .* open \/volunteer\/ on a device/;
    await page.getByText(why).waitFor();
    assert.equal(await drawn(page), 0);
    await volunteer(10, ADDRESSES[1]);
    const seen = [];
    await eventually('the last tile', async () => seen[seen.push(await drawn(page)) - 1] === TILES);
    await page.getByText('Complete').waitFor();
    await page.getByText(`${TILES} of ${TILES} tiles`).waitFor();
    assert.deepEqual(
      seen,
      [...seen].sort((a, b) => a - b),
    );
    assert.ok(new Set(seen).size > 4, `tiles come one after another: ${seen}`);

    // Points with the same number of iterations have the same color. Few numbers of iterations share a color.
    const data = await points(page),
      step = 1 / 256,
      colors = new Map();
    const exact = calculate(
      Buffer.from(
        JSON.stringify({ left: -2.25, top: 1.125, step, width: SIDE * ACROSS, height: SIDE * DOWN, iterations: 255 }),
      ),
    );
    for (const [i, n] of exact.entries()) {
      const color = data.readUInt32BE(4 * i);
      if (!colors.has(n)) colors.set(n, color);
      if (colors.get(n) !== color)
        assert.fail(`point ${i} of ${n} iterations is ${color}, others are ${colors.get(n)}`);
    }
    assert.ok(new Set(colors.values()).size > 50);
    assert.deepEqual(page.problems, []);
  });

  test('a volunteer alone is told that its tickets wait for another node', async () => {
    const page = await open();
    await login(page, coordinator.token);
    await press(page, 'Compute');
    const alone = await volunteer(100, ADDRESSES[0]);
    await alone.getByText(/^Waiting for another node: expected nodes of 2 addresses/).waitFor();
    assert.equal(await drawn(page), 0);
    await assertFits(alone, 'volunteer-waits');
  });

  test('continues when the coordinator is back, and starts again at the next press', async () => {
    const page = await open();
    await login(page, coordinator.token);
    await press(page, 'Compute');
    await volunteers(10);
    await eventually('some tiles', async () => (await drawn(page)) > 2);
    await coordinator.kill();
    await coordinator.restart();
    await eventually('all tiles', async () => (await drawn(page)) === TILES);
    await page.getByText('Complete').waitFor();
    const ours = async () =>
      (await coordinator.ask('GET', '/api/projects'))
        .filter(({ name }) => name === 'Mandelbrot')
        .map(({ project }) => project);
    const [first] = (await ours()).slice(-1);
    await press(page, 'Compute');
    await eventually('removes the last project', async () => {
      const projects = await ours();
      return !projects.includes(first) && Math.max(...projects) > first;
    });
    await eventually('all tiles are drawn again', async () => (await drawn(page)) === TILES);
  });

  test("needs the author's token", async () => {
    const page = await open();
    await login(page, (await readFile(join(coordinator.folder, 'viewer.token'), 'utf8')).trim());
    await page.getByText("needs the author's token").waitFor();
    await login(page, 'password');
    await page.getByText('The coordinator refuses this token').waitFor();
    await login(page, coordinator.token);
    await page.getByRole('button', { name: 'Compute' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Compute' }).waitFor();
  });

  for (const { name, ...options } of LOOKS)
    test(`is accessible: ${name}`, async () => {
      const page = await open({ ...options, bypassCSP: true });
      await login(page, coordinator.token);
      await press(page, 'Compute');
      await volunteers(20);
      await eventually('a part', async () => (await drawn(page)) > TILES / 4);
      await assertFits(page, `mandelbrot-part-${name}`);
      await page.getByText('Complete').waitFor();
      await assertAccessible(page);
      await assertFits(page, `mandelbrot-${name}`);
    });
});
