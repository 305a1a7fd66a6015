// SPDX-License-Identifier: MIT
// The console: a token is required, texts of nodes stay text, and the buttons work.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { sample, skip, withCoordinator } from './coordinator.js';
import { LOOKS, assertAccessible, assertFits } from './look.js';
import { DESKTOP, eventually, login, openPlain, press } from './page.js';

const HOSTILE = '<img src="x" onerror="globalThis.hit=1">';
const SLOW = 'export async function calculate() { await new Promise(() => {}); }';

describe('the console', { skip }, () => {
  let browser, coordinator;
  withCoordinator((started) => ({ browser, coordinator } = started));

  async function open(options = DESKTOP) {
    const page = await openPlain(browser, `${coordinator.url}/console/`, options);
    await page.clock.install();
    return page;
  }
  const tab = (page, name) =>
    page.getByRole('navigation', { name: 'Parts of the console' }).getByRole('link', { name }).click();
  /** The parts of tables without a role. They need one, because the style sheet turns rows into cards. */
  const unsaid = (page) =>
    page
      .locator('table, thead, tbody, tr, th, td')
      .evaluateAll((parts) =>
        parts
          .filter((part) => !/^(table|rowgroup|row|columnheader|rowheader|cell)$/.test(part.getAttribute('role')))
          .map((part) => part.outerHTML),
      );
  /** Presses a button that asks for confirmation, twice. If the question times out, tries again. */
  async function surely(page, name) {
    const button = page.getByRole('button', { name: `Really: ${name}`, exact: true });
    await eventually(`the answer to ${name}`, async () => {
      if (!(await button.count())) await press(page, name);
      await page.clock.fastForward(600); // faster clicks are one double click
      return button.click({ timeout: 2000 }).then(
        () => true,
        () => false,
      );
    });
  }
  /** Opens a volunteer's page with this name, which computes. */
  async function volunteering(name) {
    const page = await openPlain(browser, `${coordinator.volunteersUrl}/volunteer/`, DESKTOP);
    await page.getByLabel(/^Name/).fill(name);
    await press(page, 'Start computing');
    await eventually('it joined', async () =>
      (await coordinator.nodes()).some((node) => node.name === name && node.connected),
    );
    return page;
  }

  test("requires a token: refuses a wrong one, lets the viewer's only read, and keeps the author's for the tab", async () => {
    assert.match(coordinator.said, /^console +http.*\/console\/$/m);
    const page = await openPlain(browser, `${coordinator.url}/console`, DESKTOP);
    assert.equal(new URL(page.url()).pathname, '/console/');
    await login(page, 'password');
    await page.getByText('The coordinator refuses this token').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Nodes' }).count(), 0);

    await coordinator.task('watched', SLOW, [1]);
    await login(page, (await readFile(join(coordinator.folder, 'viewer.token'), 'utf8')).trim());
    await page.getByText('Logged in as viewer').waitFor();
    await tab(page, 'Projects');
    await page.getByRole('row', { name: /watched/ }).waitFor();
    assert.equal(await page.getByRole('button', { name: /Pause|Cancel|Expel/ }).count(), 0);
    await press(page, 'Log out');
    await page.getByLabel('Token').waitFor();

    await login(page, coordinator.token);
    await page.getByText('Logged in as author').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Pause watched' }).waitFor();
    assert.deepEqual(
      page.problems.filter((text) => !text.includes('401')),
      [],
    );
  });

  test('pauses, resumes and cancels a task, changes its priority, and expels a node', async () => {
    const task = await coordinator.task('endless', SLOW, [1, 2, 3]);
    const page = await open();
    await login(page, coordinator.token);
    const volunteer = await volunteering('somebody');
    await tab(page, 'Nodes');
    await page
      .getByRole('row', { name: /somebody/ })
      .getByText('connected')
      .waitFor();
    await tab(page, 'Projects');
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
    assert.equal((await coordinator.status(task)).state, 'running', 'one press or a double click does not cancel it');
    await page.clock.runFor(6000);
    assert.equal(
      await page.getByRole('button', { name: 'Really: Cancel endless' }).count(),
      1,
      'the question stays for some seconds',
    );
    await surely(page, 'Cancel endless');
    await page
      .getByRole('row', { name: /endless/ })
      .getByText('cancelled')
      .waitFor();
    assert.equal((await coordinator.status(task)).state, 'cancelled');

    const { node } = (await coordinator.nodes()).find(({ name }) => name === 'somebody');
    await tab(page, 'Nodes');
    await surely(page, 'Expel somebody');
    await eventually('the node is expelled', async () => (await coordinator.ask('GET', `/api/nodes/${node}`)).expelled);
    await volunteer.getByText('expelled this page: expelled by the operator').waitFor();
    assert.deepEqual(page.problems, []);
  });

  test('shows why a task waits, while it waits', async () => {
    await coordinator.task('agreed', SLOW, [1], { verification: 'quorum', quorum: 2 });
    const page = await open();
    await login(page, coordinator.token);
    await tab(page, 'Projects');
    const why = page
      .getByRole('row', { name: /agreed/ })
      .getByText(/Waits: .*expected nodes of 2 addresses, .*, got 0/);
    await why.waitFor();
    await press(page, 'Pause agreed');
    await why.waitFor({ state: 'hidden' });
    assert.deepEqual(page.problems, []);
  });

  test('shows names, devices and errors of nodes as text', async () => {
    const error = `export function calculate() { throw new Error(${JSON.stringify(HOSTILE)}); }`;
    await coordinator.task(HOSTILE, error, [1], { max_attempts: 1 });
    const page = await open();
    await login(page, coordinator.token);
    const volunteer = await volunteering(HOSTILE);
    await tab(page, 'Errors');
    await page.locator('.errors .message').getByText(HOSTILE, { exact: true }).waitFor();
    await tab(page, 'Nodes');
    await page.getByRole('region', { name: 'Nodes' }).getByText(HOSTILE).waitFor();
    await tab(page, 'Projects');
    const head = page.locator('.project-head', { hasText: 'onerror' });
    await head.waitFor();
    if ((await head.getAttribute('aria-expanded')) === 'false') await head.click();
    await page
      .getByRole('row', { name: /onerror/ })
      .first()
      .waitFor();
    for (const one of [page, volunteer]) {
      assert.equal(await one.locator('img[src="x"]').count(), 0);
      assert.equal(await one.evaluate(() => globalThis.hit), undefined);
      assert.deepEqual(one.problems, []);
    }
  });

  test('reports that the coordinator is away, and continues when it is back', async () => {
    const page = await open();
    await login(page, coordinator.token);
    await page.getByRole('link', { name: 'Nodes' }).waitFor();
    await coordinator.kill();
    await page.getByText('The coordinator does not answer').waitFor();
    await coordinator.restart();
    await page.getByText('The coordinator does not answer').waitFor({ state: 'hidden' });
  });

  for (const { name, ...options } of LOOKS)
    test(`is accessible: ${name}`, async () => {
      const page = await open({ ...options, bypassCSP: true });
      await page.getByRole('button', { name: 'Log in' }).waitFor();
      await assertAccessible(page);
      await assertFits(page, `console-login-${name}`);
      await login(page, coordinator.token);
      await tab(page, 'Projects');
      await coordinator.task(
        `primes ${name}`,
        await sample('primes'),
        Array.from({ length: 60 }, (_, i) => i),
      );
      await volunteering(`a ${name}`);
      await page.getByLabel('Search project or task').fill(`primes ${name}`);
      if (!(await page.getByRole('row').count())) await page.locator('.project-head').first().click();
      await page
        .getByRole('row', { name: new RegExp(`primes ${name}`) })
        .getByText('60 of 60')
        .waitFor();
      await assertAccessible(page);
      assert.deepEqual(await unsaid(page), []);
      await assertFits(page, `console-${name}`);
    });
});
