// SPDX-License-Identifier: MIT
// Checks for every page: no errors, no findings of axe, no horizontal scrolling.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DESKTOP, PHONE } from './page.js';

export const THEMES = ['light', 'dark'];

/**
 * The devices and themes in which pages are checked. Colors depend on the theme, and places depend on the device. Each
 * theme and each device is therefore checked once. With KAISEKI_SLOW, all pairs are checked.
 */
export const LOOKS = [
  { name: 'phone-dark', ...PHONE, colorScheme: 'dark' },
  { name: 'desktop-light', ...DESKTOP, colorScheme: 'light' },
  ...(process.env.KAISEKI_SLOW
    ? [
        { name: 'phone-light', ...PHONE, colorScheme: 'light' },
        { name: 'desktop-dark', ...DESKTOP, colorScheme: 'dark' },
      ]
    : []),
];

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export async function assertAccessible(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(
    violations.map(
      ({ id, impact, nodes }) => `${impact}: ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
    ),
    [],
  );
}

/** If KAISEKI_PICTURES names a folder, a screenshot is saved there as `name`. */
export async function assertFits(page, name) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `the page scrolls sideways by ${wide} pixels`);
  if (process.env.KAISEKI_PICTURES)
    await page.screenshot({ path: join(process.env.KAISEKI_PICTURES, `${name}.png`), fullPage: true });
}
