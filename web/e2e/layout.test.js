// SPDX-License-Identifier: MIT
// The contents of the page fit: answers beside a drawing, errors in view, curves with values and labels.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DESKTOP, PHONE, open, panel, paste, press, until, withPage } from './page.js';
import { assertAccessible, assertFits } from './look.js';

const NO_LOSS =
  '{"inputs": {"image": {"shape": [1, 28, 28]}}, "layers": [{"type": "fully_connected", "output_size": 10}]}';

const box = (locator) => locator.evaluate((node) => node.getBoundingClientRect().toJSON());

describe('the layout', () => {
  let server, browser;
  withPage((started) => ({ browser, server } = started));

  for (const [name, options] of [
    ['phone', PHONE],
    ['desktop', { viewport: { width: 1280, height: 720 } }],
  ])
    test(`an error of a network is in view: ${name}`, async () => {
      const page = await open(browser, server.address, options);
      await panel(page, 'Network');
      await paste(page, NO_LOSS);
      await page.getByText('Network ready').waitFor();
      await paste(page, NO_LOSS.replace('output_size', 'output_sise'));
      const message = page.locator('.panel .message');
      await message.waitFor();
      assert.equal(await page.getByText('Network ready').count(), 0);
      const { top, bottom } = await box(message),
        run = await box(page.locator('.run'));
      const [least, most] = name === 'phone' ? [0, run.top] : [run.bottom, 720];
      assert.ok(top >= least && bottom <= most, `${top} to ${bottom}, visible is ${least} to ${most}`);
      await assertFits(page, `error-${name}`);
      await page.context().close();
    });

  test('bars of probabilities are long enough to compare at every width', async () => {
    const page = await open(browser, server.address, DESKTOP);
    for (const width of [320, 390, 640, 800, 1024, 1280, 1440, 1920]) {
      await page.setViewportSize({ width, height: 844 });
      const bar = await box(page.locator('.bar').first());
      assert.ok(bar.width >= 60, `${bar.width} pixels at ${width}`);
    }
    await page.context().close();
  });

  for (const colorScheme of ['light', 'dark'])
    test(`outputs of a network without loss are no probabilities: ${colorScheme}`, async () => {
      const page = await open(browser, server.address, {
        viewport: { width: 1280, height: 900 },
        colorScheme,
        bypassCSP: true,
      });
      await paste(page, NO_LOSS);
      await page.getByText('Outputs. Without a loss layer or softmax they are no probabilities.').waitFor();
      const shares = await page.locator('.share').allTextContents();
      assert.equal(shares.length, 10);
      assert.ok(
        shares.every((text) => !text.includes('%')),
        shares.join(),
      );
      await press(page, 'Start');
      await until(page, 'Test accuracy', (value) => value > 0);
      await press(page, 'Pause');
      await page.locator('.chart .plot').first().hover();
      await page.locator('.chart .legend', { hasText: /Step \d+.*batch [\d.]+.*running mean [\d.]+/ }).waitFor();
      await assertFits(page, `outputs-${colorScheme}`);
      await assertAccessible(page);
      await page.context().close();
    });

  for (const colorScheme of ['light', 'dark'])
    test(`a drawing and its answer fit above the bar of a phone: ${colorScheme}`, async () => {
      for (const height of [667, 844]) {
        const page = await open(browser, server.address, { ...PHONE, viewport: { width: 390, height }, colorScheme });
        await page.locator('.probabilities .best').waitFor();
        await page.locator('.paper').evaluate((node) => node.scrollIntoView({ block: 'start' }));
        const paper = await box(page.locator('.paper')),
          answer = await box(page.locator('.prediction')),
          run = await box(page.locator('.run'));
        assert.ok(paper.top >= 0 && paper.width >= 180, JSON.stringify(paper));
        assert.ok(answer.bottom <= run.top, `${answer.bottom}, the bar begins at ${run.top}`);
        if (process.env.KAISEKI_PICTURES)
          await page.screenshot({ path: `${process.env.KAISEKI_PICTURES}/draw-${height}-${colorScheme}.png` });
        await page.context().close();
      }
    });

  test('a tap on a curve shows its values', async () => {
    const page = await open(browser, server.address, PHONE);
    await press(page, 'Start');
    await until(page, 'Step', (value) => value > 10);
    await press(page, 'Pause');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    const chart = page.locator('.chart').first();
    await chart.evaluate((node) => node.scrollIntoView({ block: 'start' }));
    await chart.locator('.u-over').tap();
    await chart.locator('.legend', { hasText: /Step \d+.*batch [\d.]+/ }).waitFor();
    await assertFits(page, 'chart-phone');
    await page.context().close();
  });

  test('the bar hides nothing at a zoom of 400 %', async () => {
    const page = await open(browser, server.address, { viewport: { width: 320, height: 256 } });
    await page.locator('.probabilities').evaluate((node) => node.scrollIntoView({ block: 'start' }));
    const run = await box(page.locator('.run'));
    assert.ok(run.bottom <= 0, JSON.stringify(run));
    await assertFits(page, 'zoom');
    await page.context().close();
  });
});
