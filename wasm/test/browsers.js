// SPDX-License-Identifier: MIT
// The headless browsers of the tests: Chromium, and Firefox over WebDriver BiDi if it is installed.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';

const FIREFOX = '/usr/bin/firefox-esr';

const launch = {
  chromium: () => chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] }),
  firefox: () =>
    puppeteer.launch({ browser: 'firefox', executablePath: FIREFOX, headless: true, protocolTimeout: 600000 }),
};

/** Names for open(). */
export const browsers = existsSync(FIREFOX) ? ['chromium', 'firefox'] : ['chromium'];
export const without = browsers.includes('firefox') ? undefined : `no ${FIREFOX}`;

/** Starts a browser. `inPage(url, body, argument)` calls `body(argument)` in a new page. */
export async function open(name) {
  const browser = await launch[name]();
  return {
    async inPage(url, body, argument) {
      const page = await browser.newPage();
      try {
        await page.goto(url);
        return await page.evaluate(body, argument);
      } finally {
        await page.close();
      }
    },
    close: () => browser.close(),
  };
}
