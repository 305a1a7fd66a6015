// SPDX-License-Identifier: MIT
// Opens the page in headless Chromium, reports violations of its content security policy, and acts as a user.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { serve } from './server.js';

/** The built page. */
export const PAGE = process.env.KAISEKI_PAGE ?? fileURLToPath(new URL('../../page/', import.meta.url));
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
export const DESKTOP = { viewport: { width: 1440, height: 900 } };

/** The time-out of all waits. Only a failing test takes this long, even on a busy machine. */
export const PATIENCE = 180_000;

export const launch = () =>
  chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'], timeout: PATIENCE });

/**
 * Starts a browser and a server of the built page before the tests of a describe block. Closes both afterwards.
 * @param {(started: { browser: import('playwright-core').Browser, server: { address: string } }) => unknown} onStart
 */
export function withPage(onStart) {
  let browser, server;
  before(async () => {
    server = await serve({ '/': PAGE });
    browser = await launch();
    await onStart({ browser, server });
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });
}

/**
 * A browser context without animations, which would disturb axe. `script` runs in its pages before their own scripts.
 */
export async function newContext(browser, { script, ...options } = {}) {
  const context = await browser.newContext({ acceptDownloads: true, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(PATIENCE);
  if (script) await context.addInitScript(script);
  return context;
}

/** Opens a page. Its `problems` are the errors that it logged. */
export async function openPlain(browser, address, options = DESKTOP) {
  const page = await (await newContext(browser, options)).newPage();
  page.problems = [];
  page.on('pageerror', (error) => page.problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && page.problems.push(message.text()));
  await page.goto(address);
  return page;
}

/** Opens the page that trains, and waits until it can train. It then trains until a test ends it. */
export async function open(browser, address, options) {
  const page = await openPlain(browser, address, options);
  await ready(page);
  await setEpochs(page, 100_000);
  return page;
}

/** Enters the number of epochs, also where the panel is closed. */
export const setEpochs = (page, epochs) =>
  page.locator('.fields input[type=number]').evaluate((input, epochs) => {
    input.value = String(epochs);
    input.dispatchEvent(new Event('change', { bubbles: true }));
  }, epochs);

/** Waits until the library, a network and data are loaded. */
export const ready = (page) =>
  page
    .getByRole('button', { name: /^(Start|Resume)$/ })
    .and(page.locator(':enabled'))
    .waitFor();

/** Waits until `look` returns a true value, and returns it. */
export async function eventually(what, look) {
  for (const end = Date.now() + PATIENCE; ;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < end, `${what}: not within ${PATIENCE / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function stat(page, name) {
  const text = await page.locator('.stats > div', { hasText: name }).locator('dd').textContent();
  return Number(text.replace(/[,%]/g, ''));
}

/** Waits until a figure of the run satisfies `expected`. */
export async function until(page, name, expected) {
  let value;
  await eventually(name, async () => {
    value = await stat(page, name);
    if (expected(value)) return true;
    assert.deepEqual(
      await page.locator('.run .problem').allTextContents(),
      [],
      `while waiting for ${name}, now ${value}`,
    );
    return false;
  });
  return value;
}

export async function login(page, token) {
  await page.getByLabel('Token').fill(token);
  await press(page, 'Log in');
}

export const press = (page, name) => page.getByRole('button', { name, exact: true }).click();

/** Answers the question whether trained weights may be discarded. */
export const confirm = (page, name) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click();

export async function reset(page) {
  await press(page, 'Reset');
  await confirm(page, 'Reset');
}

/** Selects a network or a source of data. */
export const pick = (page, title) => page.getByRole('radio', { name: new RegExp(`^${title}`) }).check();

/** Enters a network as if pasted, and uses it. */
export async function paste(page, json) {
  await pick(page, 'Your own');
  await page.locator('textarea').fill(json);
  await press(page, 'Use this network');
}

/** Waits until the drawing has `least` colors that the background does not have. */
export const drawn = (picture, least) =>
  eventually(`${least} colors`, () =>
    picture.evaluate((canvas, least) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const found = new Set();
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) found.add(data.slice(i, i + 3).join());
      return found.size >= least;
    }, least),
  );

/** Opens a panel on a phone. On a wide screen all panels are open. */
export async function panel(page, title) {
  const details = page.locator('details', { has: page.getByRole('heading', { name: title, exact: true }) });
  if (!(await details.evaluate((node) => node.open))) await details.locator('summary').click();
  return details;
}

/** Draws with the mouse. Strokes are lists of points in 0..1 of the canvas. */
export async function draw(page, strokes) {
  const paper = page.locator('.pen');
  await paper.scrollIntoViewIfNeeded();
  const box = await paper.boundingBox();
  for (const stroke of strokes) {
    const points = stroke.map(([x, y]) => [box.x + x * box.width, box.y + y * box.height]);
    await page.mouse.move(...points[0]);
    await page.mouse.down();
    for (const point of points.slice(1)) await page.mouse.move(...point, { steps: 6 });
    await page.mouse.up();
  }
}

export const ZERO = [
  Array.from({ length: 25 }, (_, i) => [
    0.5 + 0.2 * Math.sin((i * Math.PI) / 12),
    0.5 - 0.32 * Math.cos((i * Math.PI) / 12),
  ]),
];
export const ONE = [
  [
    [0.5, 0.18],
    [0.48, 0.82],
  ],
];
export const SEVEN = [
  [
    [0.3, 0.22],
    [0.7, 0.22],
    [0.45, 0.82],
  ],
];

/** The class that the network predicts for the picture. */
export const best = (page) => page.locator('.probabilities .best .class').textContent();
