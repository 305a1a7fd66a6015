// SPDX-License-Identifier: MIT
// The console: nobody gets in without a token, what nodes say stays text, and what its buttons do is done.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { Coordinator, sample, skip } from './coordinator.js';
import { THEMES, assertAccessible, assertFits } from './look.js';
import { DESKTOP, PHONE, eventually, launch, login, openPlain, press } from './page.js';

const HOSTILE = '<img src="x" onerror="globalThis.hit=1">';
const SLOW = 'export async function calculate() { await new Promise(() => {}); }';

describe('the console', { skip }, () => {
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

  const open = (options = DESKTOP) => openPlain(browser, `${coordinator.url}/console/`, options);
  /** Parts of tables that are such for no one who cannot see them where the style sheet makes cards of rows. */
  const unsaid = (page) => page.locator('table, thead, tbody, tr, th, td').evaluateAll((parts) => parts
    .filter((part) => !/^(table|rowgroup|row|columnheader|rowheader|cell)$/.test(part.getAttribute('role'))).map((part) => part.outerHTML));
  /** Says twice that it is meant; a question that nobody answered in time is asked again. */
  async function surely(page, name) {
    const button = page.getByRole('button', { name: `Really: ${name}`, exact: true });
    await eventually(`the answer to ${name}`, async () => {
      if (!await button.count()) await press(page, name);
      await page.waitForTimeout(600);
      return await button.count() && button.click({ timeout: 2000 }).then(() => true, () => false);
    });
  }
  /** A volunteer's page of this name that computes. */
  async function volunteering(name) {
    const page = await openPlain(browser, `${coordinator.url}/volunteer/`, DESKTOP);
    await page.getByLabel(/^Name/).fill(name);
    await press(page, 'Start computing');
    await eventually('it joined', async () => (await coordinator.nodes()).some((node) => node.name === name && node.connected));
    return page;
  }

  test('wants a token: a wrong one is refused, the viewer\'s only reads, the author\'s stays for the tab', async () => {
    assert.match(coordinator.said, /^console +http.*\/console\/$/m);
    const page = await openPlain(browser, `${coordinator.url}/console`, DESKTOP);
    assert.equal(new URL(page.url()).pathname, '/console/');
    await login(page, 'password');
    await page.getByText('This is neither the author\'s token').waitFor();
    assert.equal(await page.getByRole('heading', { name: 'Nodes' }).count(), 0);

    await coordinator.task('watched', SLOW, [1]);
    await login(page, (await readFile(join(coordinator.folder, 'viewer.token'), 'utf8')).trim());
    await page.getByText('Logged in as viewer').waitFor();
    await page.getByRole('row', { name: /watched/ }).waitFor();
    assert.equal(await page.getByRole('button', { name: /Pause|Cancel|Expel/ }).count(), 0);
    await press(page, 'Log out');
    await page.getByLabel('Token').waitFor();

    await login(page, coordinator.token);
    await page.getByText('Logged in as author').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Pause watched' }).waitFor();
    assert.deepEqual(page.problems.filter((text) => !text.includes('401')), []);
  });

  test('pauses, resumes, ranks and cancels a task, and puts a node out', async () => {
    const task = await coordinator.task('endless', SLOW, [1, 2, 3]);
    const page = await open();
    await login(page, coordinator.token);
    const volunteer = await volunteering('somebody');
    await page.getByRole('row', { name: /somebody/ }).getByText('connected').waitFor();
    await press(page, 'Pause endless');
    await page.getByRole('button', { name: 'Resume endless' }).waitFor();
    assert.equal((await coordinator.status(task)).state, 'paused');
    await press(page, 'Resume endless');
    await page.getByRole('button', { name: 'Pause endless' }).waitFor();
    assert.equal((await coordinator.status(task)).state, 'running');
    await page.getByLabel('Priority of endless').fill('7');
    await page.keyboard.press('Enter');
    await eventually('the priority', async () => (await coordinator.status(task)).priority === 7);

    await page.getByRole('button', { name: 'Cancel endless', exact: true }).dblclick();
    assert.equal((await coordinator.status(task)).state, 'running', 'not by one press, nor by a double click');
    await page.waitForTimeout(6000);
    assert.equal(await page.getByRole('button', { name: 'Really: Cancel endless' }).count(), 1, 'there is time to read');
    await surely(page, 'Cancel endless');
    await page.getByRole('row', { name: /endless/ }).getByText('cancelled').waitFor();
    assert.equal((await coordinator.status(task)).state, 'cancelled');

    const { node } = (await coordinator.nodes()).find(({ name }) => name === 'somebody');
    await surely(page, 'Expel somebody');
    await eventually('it is out', async () => (await coordinator.ask('GET', `/api/nodes/${node}`)).expelled);
    await volunteer.getByText('put this page out: expelled by the operator').waitFor();
    assert.deepEqual(page.problems, []);
  });

  test('says why a task waits, until it does not any more', async () => {
    await coordinator.task('agreed', SLOW, [1], { verification: 'quorum', quorum: 2 });
    const page = await open();
    await login(page, coordinator.token);
    const why = page.getByRole('row', { name: /agreed/ }).getByText(/Waits: .*expected nodes of 2 sources .*, got 0/);
    await why.waitFor();
    await press(page, 'Pause agreed');
    await why.waitFor({ state: 'hidden' });
    assert.deepEqual(page.problems, []);
  });

  test('shows what nodes say as text: names, devices, errors', async () => {
    const error = `export function calculate() { throw new Error(${JSON.stringify(HOSTILE)}); }`;
    await coordinator.task(HOSTILE, error, [1], { max_attempts: 1 });
    const page = await open();
    await login(page, coordinator.token);
    const volunteer = await volunteering(HOSTILE);
    await page.getByRole('region', { name: 'Errors' }).getByText(HOSTILE, { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Nodes' }).getByText(HOSTILE).waitFor();
    await page.getByRole('row', { name: /onerror/ }).first().waitFor();
    for (const one of [page, volunteer]) {
      assert.equal(await one.locator('img[src="x"]').count(), 0);
      assert.equal(await one.evaluate(() => globalThis.hit), undefined);
      assert.deepEqual(one.problems, []);
    }
  });

  test('says that the coordinator is gone, and goes on when it is back', async () => {
    const page = await open();
    await login(page, coordinator.token);
    await page.getByRole('heading', { name: 'Nodes', exact: true }).waitFor();
    await coordinator.kill();
    await page.getByText('The coordinator does not answer').waitFor();
    await coordinator.restart();
    await page.getByText('The coordinator does not answer').waitFor({ state: 'hidden' });
  });

  for (const [name, options] of [['phone', PHONE], ['desktop', DESKTOP]])
    for (const colorScheme of THEMES)
      test(`is for everyone: ${name}, ${colorScheme}`, async () => {
        const page = await open({ ...options, colorScheme, bypassCSP: true });
        await page.getByRole('button', { name: 'Log in' }).waitFor();
        await assertAccessible(page);
        await assertFits(page, `console-login-${name}-${colorScheme}`);
        await login(page, coordinator.token);
        await page.getByRole('heading', { name: 'Nodes', exact: true }).waitFor();
        await coordinator.task(`primes ${name} ${colorScheme}`, await sample('primes'), Array.from({ length: 60 }, (_, i) => i));
        await volunteering(`a ${name}, ${colorScheme}`);
        await page.getByRole('row', { name: new RegExp(`primes ${name} ${colorScheme}`) }).getByText('60 of 60').waitFor();
        await assertAccessible(page);
        assert.deepEqual(await unsaid(page), []);
        await assertFits(page, `console-${name}-${colorScheme}`);
      });
});
