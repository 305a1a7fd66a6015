// SPDX-License-Identifier: MIT
// A page that was expelled does not come back at once, not even under another name. These tests use a separate
// coordinator, because after an expulsion all new nodes of this address have to wait.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { skip, withCoordinator } from './coordinator.js';
import { eventually, openPlain, press } from './page.js';

describe('an expelled page', { skip }, () => {
  let browser, coordinator;
  withCoordinator((started) => ({ browser, coordinator } = started));

  test('stays away for a while, also after a reload and without its site data', async () => {
    await coordinator.task('endless', 'export function calculate() { for (;;); }', [1]);
    const page = await openPlain(browser, `${coordinator.url}/volunteer/`);
    await press(page, 'Start computing');
    const connected = async () => (await coordinator.nodes()).find((node) => node.connected);
    const { node } = await eventually('a node', connected);
    await coordinator.ask('DELETE', `/api/nodes/${node}`);
    await page.getByText(/expelled this page: expelled by the operator. It waits .* 60 minutes/).waitFor();
    await page.reload();
    await page.getByText(/expelled this page/).waitFor();
    const start = page.getByRole('button', { name: 'Start computing' });
    assert.ok(await start.isDisabled());
    await page.goto(`${coordinator.url}/console/`); // the page stores its memory again when it is closed
    await page.evaluate(() => localStorage.clear());
    await page.goto(`${coordinator.url}/volunteer/`);
    await start.and(page.locator(':enabled')).click();
    await page
      .getByText(
        'closed the connection: a node of this address was expelled; other nodes may join in 1 min; trying again',
      )
      .waitFor();
    assert.equal(await connected(), undefined);
    assert.equal((await coordinator.nodes()).length, 1);
  });
});
