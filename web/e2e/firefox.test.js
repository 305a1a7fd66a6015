// SPDX-License-Identifier: MIT
// The pages in headless Firefox, over WebDriver BiDi: they are accessible in both themes, train, compute, stop and log in.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, afterEach, before, describe, test } from 'node:test';
import puppeteer from 'puppeteer-core';
import { Coordinator, sample, skip as withoutCommand } from './coordinator.js';
import { THEMES, assertAccessible } from './look.js';
import { PATIENCE, eventually } from './page.js';

const FIREFOX = '/usr/bin/firefox-esr';
const skip = !existsSync(FIREFOX) ? `no ${FIREFOX}` : withoutCommand;
const ENDLESS = 'export function calculate() { for (;;); }';

/** Presses the enabled button with this text, once there is one. */
async function press(page, name) {
  const button = await eventually(`the button ${name}`, async () =>
    (
      await page.evaluateHandle(
        (name) =>
          [...document.querySelectorAll('button:enabled')].find((one) => one.textContent.trim() === name) ?? null,
        name,
      )
    ).asElement(),
  );
  await button.click();
}

const says = (page, expected) =>
  eventually(String(expected), async () => expected.test(await page.evaluate(() => document.body.innerText)));

const figure = (page, name) =>
  page.evaluate((name) => {
    const all = [...document.querySelectorAll('.stats > div, .figures > div')];
    return Number(all.find((one) => one.querySelector('dt').textContent === name)?.querySelector('dd').textContent);
  }, name);

describe('in Firefox', { skip }, () => {
  let coordinator;
  const browsers = {};
  const opened = [];
  before(async () => {
    coordinator = await Coordinator.start();
    for (const theme of THEMES)
      browsers[theme] = await puppeteer.launch({
        browser: 'firefox',
        executablePath: FIREFOX,
        headless: true,
        protocolTimeout: PATIENCE,
        extraPrefsFirefox: { 'ui.systemUsesDarkTheme': Number(theme === 'dark') },
      });
  });
  after(async () => {
    for (const browser of Object.values(browsers)) await browser.close();
    await coordinator?.close();
  });
  afterEach(async () => {
    // A tab stays open: Firefox may ignore the first navigation after its last tab was closed.
    for (const page of opened.splice(0)) await page.close();
    await coordinator.clear();
  });

  async function open(path, theme = 'light') {
    const page = await browsers[theme].newPage();
    opened.push(page);
    page.problems = [];
    page.on('pageerror', (error) => page.problems.push(String(error)));
    await page.setViewport({ width: 1280, height: 900 });
    await page.goto(coordinator.url + path);
    return page;
  }

  for (const theme of THEMES)
    for (const [path, expected] of [
      ['/', /Network ready|Start/],
      ['/volunteer/', /Start computing/],
      ['/console/', /Log in/],
      ['/mandelbrot/', /Mandelbrot/],
    ])
      test(`${path} is accessible: ${theme}`, async () => {
        const page = await open(path, theme);
        await says(page, expected);
        if (path === '/') await says(page, /Test picture/);
        assert.equal(await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches), theme === 'dark');
        await assertAccessible(page);
        assert.deepEqual(page.problems, []);
      });

  test('trains 20 steps with threads, and pauses', async () => {
    const page = await open('/');
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    await press(page, 'Start');
    await eventually('20 steps', async () => (await figure(page, 'Step')) >= 20);
    await press(page, 'Pause');
    await says(page, /Paused at step/);
    assert.ok((await figure(page, 'Loss')) < 10);
    assert.deepEqual(page.problems, []);
  });

  test("computes a module's tickets as a volunteer, and stops within a second", async () => {
    const task = await coordinator.task('primes', await sample('primes'), [1, 2, 3, 4, 5]);
    const page = await open('/volunteer/');
    await press(page, 'Start computing');
    await eventually('its end', async () => (await coordinator.status(task)).done === 5);
    const results = (await coordinator.results(task)).sort((a, b) => a.ticket - b.ticket);
    assert.deepEqual(
      results.map(({ result }) => result),
      ['false', 'true', 'true', 'false', 'true'],
    );
    const endless = await coordinator.task('endless', ENDLESS, [1]);
    await eventually('a lease', async () => (await coordinator.status(endless)).leased === 1);
    const begun = performance.now();
    await press(page, 'Stop');
    await eventually('the tickets are back', async () => (await coordinator.status(endless)).leased === 0);
    const spent = performance.now() - begun;
    assert.ok(spent <= 1000, `${spent} ms`);
    await says(page, /Not computing/);
    assert.deepEqual(page.problems, []);
  });

  test('logs in to the console', async () => {
    const page = await open('/console/');
    await says(page, /Log in/);
    await (await page.$('.login input')).type(coordinator.token);
    await press(page, 'Log in');
    await says(page, /Logged in as author/);
    assert.deepEqual(page.problems, []);
  });
});
