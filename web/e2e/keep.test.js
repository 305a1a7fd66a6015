// SPDX-License-Identifier: MIT
// A high learning rate, one key or a reload does not lose trained weights.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  PHONE,
  eventually,
  open,
  openPlain,
  panel,
  pick,
  press,
  ready,
  stat,
  until,
  withPage,
  setEpochs,
} from './page.js';
import { LOOKS, assertAccessible, assertFits } from './look.js';
import { storedAccuracy, storedSteps, untilStored } from './stored.js';

describe('kept training', () => {
  let server, browser;
  withPage((started) => ({ browser, server } = started));

  test('a learning rate of 1 stops with a reason, and lower ones are offered until it learns', async () => {
    const page = await open(browser, server.address, { ...PHONE, bypassCSP: true });
    await page.locator('#rate').evaluate((slider) => {
      slider.value = '0';
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await press(page, 'Start');
    const problem = page.locator('.run .message');
    await problem.waitFor();
    assert.match(
      await problem.textContent(),
      /A learning rate of 1 is too high for this network\. The weights of step 0/,
    );
    await page.getByText('Training has stopped').waitFor();
    await assertFits(page, 'diverged-phone');
    await assertAccessible(page);
    await press(page, 'Train with a rate of 0.1');
    await problem.getByText('A learning rate of 0.1 is too high').waitFor(); // for LeNet with momentum
    await press(page, 'Train with a rate of 0.01');
    await until(page, 'Step', (value) => value > 20);
    assert.ok((await stat(page, 'Loss')) < 3);
    await page.context().close();
  });

  test('one key on the radio buttons asks, and Escape keeps the training', async () => {
    const page = await open(browser, server.address);
    await press(page, 'Start');
    await until(page, 'Step', (value) => value > 5);
    await page.getByRole('radio', { name: /^LeNet/ }).focus();
    await page.keyboard.press('ArrowDown');
    await page
      .getByRole('dialog')
      .getByText(/^This discards [\d,]+ steps of training\.$/)
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.ok(await page.getByRole('radio', { name: /^LeNet/ }).isChecked());
    const step = await stat(page, 'Step');
    await until(page, 'Step', (value) => value > step);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

  for (const { name, ...options } of LOOKS)
    test(`a reload continues the training: ${name}`, async () => {
      const page = await open(browser, server.address, { ...options, bypassCSP: true });
      await panel(page, 'Network');
      await pick(page, 'Small MLP');
      await page.getByText('Network ready').waitFor();
      await press(page, 'Start');
      await until(page, 'Test accuracy', (value) => value >= 80);
      await press(page, 'Pause');
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      const step = await stat(page, 'Step');
      await untilStored(page, step);
      const isStored = async () => (await storedAccuracy(page)) === (await stat(page, 'Test accuracy'));
      await eventually('the accuracy is stored', isStored);
      await page.reload();
      await ready(page);
      const offer = page.getByText(/Your last training: Small MLP, [\d,]+ steps, test accuracy \d/);
      const accuracy = Number(/accuracy ([\d.]+)/.exec(await offer.textContent())[1]);
      await assertFits(page, `earlier-${name}`);
      await press(page, 'Start');
      await page.getByText('This discards your last training of').waitFor();
      await assertFits(page, `question-${name}`);
      await assertAccessible(page);
      await press(page, 'Keep it');
      await press(page, 'Continue');
      await page.getByText(`Paused at step ${step}`).waitFor();
      assert.equal(await stat(page, 'Step'), step);
      assert.equal(await stat(page, 'Test accuracy'), accuracy);
      await panel(page, 'Network');
      assert.ok(await page.getByRole('radio', { name: /^Small MLP/ }).isChecked());
      await press(page, 'Resume');
      await until(page, 'Step', (value) => value > step + 20);
      assert.ok((await stat(page, 'Loss')) < 1);
      assert.deepEqual(page.problems, []);
      await page.context().close();
    });

  test('a reload without a pause loses a few seconds', async () => {
    const page = await open(browser, server.address);
    await press(page, 'Start');
    await eventually('a stored training', async () => (await storedSteps(page)).length > 0);
    await page.reload();
    await page.getByText(/Your last training: LeNet, [\d,]+ steps/).waitFor();
    await press(page, 'Discard');
    await eventually('no stored training', async () => (await storedSteps(page)).length === 0);
    await page.reload();
    await ready(page);
    assert.equal(await page.getByText('Your last training').count(), 0);
    await page.context().close();
  });

  test('two tabs keep their own trainings', async () => {
    const first = await open(browser, server.address);
    const train = async (page) => {
      await setEpochs(page, 100_000); // it trains until the test pauses it
      await press(page, 'Start');
      await until(page, 'Step', (value) => value > 5);
      await press(page, 'Pause');
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      const step = await stat(page, 'Step');
      await untilStored(page, step);
      return step;
    };
    const steps = [await train(first)];
    const second = await first.context().newPage();
    await second.goto(server.address);
    await ready(second);
    assert.equal(await second.getByText('Your last training').count(), 0, 'the training of an open tab is not offered');
    await pick(second, 'Small MLP');
    await second.getByText('Network ready').waitFor();
    steps.push(await train(second));
    assert.deepEqual((await storedSteps(second)).sort(), steps.sort());
    await first.reload();
    await first.getByText(/Your last training: LeNet, /).waitFor();
    await first.close();
    await second.reload();
    await second.getByText(/Your last training: Small MLP, /).waitFor();
    await press(second, 'Discard');
    await eventually('one is left', async () => (await storedSteps(second)).length === 1);
    await second.reload();
    await second.getByText(/Your last training: LeNet, /).waitFor();
    await second.context().close();
  });

  test('trains where nothing can be stored, and asks before the page closes', async () => {
    const script = () => {
      indexedDB.open = () => {
        throw new DOMException('not allowed', 'SecurityError');
      };
    };
    const page = await openPlain(browser, server.address, { script });
    await ready(page);
    await setEpochs(page, 100_000);
    await press(page, 'Start');
    await until(page, 'Step', (value) => value > 5);
    await press(page, 'Pause');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    const asked = page.waitForEvent('dialog');
    await Promise.all([asked.then((dialog) => dialog.dismiss()), page.close({ runBeforeUnload: true })]);
    assert.equal((await asked).type(), 'beforeunload');
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });
});
