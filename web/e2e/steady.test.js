// SPDX-License-Identifier: MIT
// Training for KAISEKI_SECONDS (5) does not grow the number of buffers or the heaps. From one minute on, the test also
// measures the browser's whole memory of the page and its worker. That takes the browser some time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGE, launch, newContext, press, ready, setEpochs, stat, until } from './page.js';
import { serve } from './server.js';
import { memory, quiet, watch } from './worker.js';

const SECONDS = Number(process.env.KAISEKI_SECONDS ?? 5);

test(`${SECONDS} s of training do not grow memory`, async () => {
  const server = await serve({ '/': PAGE });
  const browser = await launch();
  try {
    const context = await newContext(browser);
    await watch(context);
    const page = await context.newPage();
    await page.goto(server.address);
    await ready(page);
    await setEpochs(page, 100_000);
    const client = await page.context().newCDPSession(page);
    const measured = async () => {
      await press(page, 'Pause');
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      await quiet(page);
      await client.send('HeapProfiler.collectGarbage');
      const { usedSize } = await client.send('Runtime.getHeapUsage');
      const found = { step: await stat(page, 'Step'), page: usedSize, ...(await memory(page)) };
      if (SECONDS >= 60)
        found.all = await page.evaluate(async () => (await performance.measureUserAgentSpecificMemory()).bytes);
      await press(page, 'Resume');
      console.log(JSON.stringify(found));
      return found;
    };
    await press(page, 'Start');
    await until(page, 'Step', (value) => value > 100);
    await until(page, 'Test accuracy', (value) => value > 0);
    const trained = async () => {
      for (const end = Date.now() + 1000 * SECONDS; Date.now() < end;)
        await page.waitForTimeout(Math.min(30_000, end - Date.now()));
      return measured();
    };
    let first = await measured(),
      last = await trained();
    // A convolution's measurements may end meanwhile. The solver that they choose may keep more memory, once.
    for (let again = 0; again < 2 && last.inUse > 1.01 * first.inUse; again++) {
      first = last;
      last = await trained();
    }
    assert.ok(last.step > first.step);
    assert.equal(last.handles, first.handles);
    assert.equal(last.heap, first.heap);
    assert.ok(last.inUse <= 1.01 * first.inUse, `${first.inUse}, then ${last.inUse} bytes of tensors`);
    assert.ok(last.page <= first.page + (1 << 20), `${first.page}, then ${last.page} bytes of JavaScript`);
    if (first.all) assert.ok(last.all <= first.all + (4 << 20), `${first.all}, then ${last.all} bytes in all`);
  } finally {
    await browser.close();
    await server.close();
  }
});
