// SPDX-License-Identifier: MIT
// Parts that carry meaning, such as bars, curves and borders of controls, have a contrast of at least 3:1.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { history, METRICS, node, servePool, task } from './large_pool.js';
import { THEMES } from './look.js';
import { DESKTOP, launch, login, open, openPlain, panel, pick } from './page.js';

const LEAST = 3;
/** Each part: a selector, the property with its color, and the selector of the background. */
const TRAINING = [
  ['.probabilities li:not(.best) .bar span', 'background-color', '.bar'],
  ['.probabilities .best .bar span', 'background-color', '.bar'],
  ['.diagram .edge', 'stroke', '.diagram'],
  ['.diagram .node:not(.chosen) .box', 'stroke', '.diagram'],
  ['.diagram .chosen .box', 'stroke', '.diagram'],
  ['.kind-convolution .glyph', 'stroke', '.box'],
  ['.kind-full .glyph', 'stroke', '.box'],
  ['.kind-pooling .glyph', 'stroke', '.box'],
  ['.panel select', 'border-top-color', '.panel'],
  ['.panel textarea', 'border-top-color', '.panel'],
  ['.panel .button', 'border-top-color', '.panel'],
  ['.option:not(:has(:checked))', 'border-top-color', '.panel'],
  ['.option:has(:checked)', 'border-top-color', '.panel'],
];
const ADDRESS = [['.panel input[type=text]', 'border-top-color', '.panel']];
/** Curves are drawn on a canvas. These are their keys in the legend. */
const CURVES = ['faint', 'lacquer', 'gold', 'celadon'].map((color) => [
  `.key--${color}::before`,
  'background-color',
  '.chart',
]);
const VOLUNTEER = [
  ['.lamp::before', 'background-color', '.switch'],
  ['.limits input[type=text]', 'border-top-color', '.limits'],
];
const LOGIN = [['.login input', 'border-top-color', '.login']];
const CONSOLE = [
  ['.tool-search input', 'border-top-color', '.card'],
  ['.tool select', 'border-top-color', '.card'],
];
const PROJECT = [
  ['.priority input', 'border-top-color', '.card'],
  ['.piece-done', 'background-color', '.progress'],
  ['.piece-leased', 'background-color', '.progress'],
];

/** The contrast of each part of the page, as WCAG defines it. NaN: the part or its background is missing. */
const contrasts = (page, parts) =>
  page.evaluate((parts) => {
    const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const luminance = () => {
      const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data]
        .slice(0, 3)
        .map((value) => value / 255)
        .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const fill = (color, opacity = 1) => {
      paint.globalAlpha = opacity;
      paint.fillStyle = color;
      paint.fillRect(0, 0, 1, 1);
      return luminance();
    };
    return parts.map(([selector, property, ground]) => {
      const [part, pseudo] = selector.split('::');
      const found = document.querySelector(part),
        under = document.querySelector(ground);
      if (!found || !under) return NaN;
      const behind = getComputedStyle(under);
      const style = getComputedStyle(found, pseudo && `::${pseudo}`);
      const low = fill(behind.fill === 'rgb(0, 0, 0)' ? behind.backgroundColor : behind.fill);
      const high = fill(style.getPropertyValue(property), Number(style.opacity));
      return (Math.max(low, high) + 0.05) / (Math.min(low, high) + 0.05);
    });
  }, parts);

async function assertStandsOut(page, parts) {
  const found = await contrasts(page, parts);
  assert.deepEqual(
    parts.map(([name], i) => `${name}: ${found[i].toFixed(2)}`).filter((_, i) => !(found[i] >= LEAST)),
    [],
  );
}

describe('contrast', () => {
  let server, browser;
  before(async () => {
    server = await servePool({
      '/api/projects': [{ project: 1, name: 'project 1', weight: 1, author: 'a' }],
      '/api/tasks': [task(1, 1)],
      '/api/nodes': [node(1)],
      '/api/history': (url) => history(url),
      '/metrics': METRICS(100),
    });
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  for (const colorScheme of THEMES) {
    test(`the page that trains: ${colorScheme}`, async () => {
      const page = await open(browser, server.address, { ...DESKTOP, colorScheme });
      await page.locator('.probabilities .best').waitFor();
      await panel(page, 'Network');
      await pick(page, 'Your own');
      await assertStandsOut(page, [...TRAINING, ...CURVES]);
      await pick(page, 'Address');
      await assertStandsOut(page, ADDRESS);
      await page.context().close();
    });

    test(`the volunteer's page: ${colorScheme}`, async () => {
      const page = await openPlain(browser, `${server.address}/volunteer/`, { ...DESKTOP, colorScheme });
      await page.locator('.lamp').waitFor();
      await assertStandsOut(page, VOLUNTEER);
      await page.context().close();
    });

    test(`the console: ${colorScheme}`, async () => {
      const page = await openPlain(browser, `${server.address}/console/`, { ...DESKTOP, colorScheme });
      await page.locator('.login').waitFor();
      await assertStandsOut(page, LOGIN);
      await login(page, 'token');
      await page.getByRole('link', { name: 'Projects' }).click();
      await page.locator('.tool-search').waitFor();
      await assertStandsOut(page, CONSOLE);
      const head = page.locator('.project-head');
      if ((await head.getAttribute('aria-expanded')) === 'false') await head.click();
      await page.locator('.priority').waitFor();
      await assertStandsOut(page, PROJECT);
      await page.context().close();
    });
  }
});
