// SPDX-License-Identifier: MIT
// The volunteer's page with a real coordinator. It computes only after consent, within its limits, through a crash of
// the coordinator, and stops at once.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { COMMAND, sample, skip, withCoordinator } from './coordinator.js';
import { LOOKS, assertAccessible, assertFits } from './look.js';
import { DESKTOP, PHONE, eventually, login, openPlain, press } from './page.js';

const isPrime = (n) =>
  n >= 2 && Array.from({ length: Math.floor(Math.sqrt(n)) }, (_, i) => i + 1).every((d) => d < 2 || n % d !== 0);
const LENET = fileURLToPath(new URL('../../models/lenet-dag.json', import.meta.url));
/** A sample takes about a second on one thread. */
const WIDE = JSON.stringify({
  name: 'wide',
  inputs: { image: { shape: [1, 28, 28] } },
  layers: [
    { name: 'a', type: 'convolution', output_channels: 256, kernel_size: 5 },
    { name: 'b', type: 'convolution', output_channels: 512, kernel_size: 5 },
    { name: 'fc', type: 'fully_connected', output_size: 10 },
    { name: 'loss', type: 'softmax_cross_entropy' },
  ],
});
const NUMBERS = Array.from({ length: 1000 }, (_, i) => i + 1);
const ENDLESS = 'export function calculate() { for (;;); }';
/** A module that keeps a processor busy for this long. Its result is the start and the end. */
const busy = (milliseconds) => `export function calculate() {
  const begun = Date.now();
  while (Date.now() < begun + ${milliseconds});
  return JSON.stringify([begun, Date.now()]);
}`;
const GLOBALS = `export function calculate() {
  const names = new Set();
  for (let at = globalThis; at; at = Object.getPrototypeOf(at)) for (const name of Object.getOwnPropertyNames(at))
    if (typeof globalThis[name] !== 'number') names.add(name);
  let code = 'none';
  try {
    code = String(new Function('return 1')());
  } catch {
    // Expected.
  }
  return JSON.stringify({names: [...names], code});
}`;

const figureText = (page, name) => page.locator('.figures > div', { hasText: name }).locator('dd').textContent();
const figure = async (page, name) => Number((await figureText(page, name)).replace(/,/g, ''));
/** Parses a figure such as "12.3 kB". */
async function byteFigure(page, name) {
  const [number, unit] = (await figureText(page, name)).split(' ');
  return number * { kB: 1e3, MB: 1e6, GB: 1e9 }[unit];
}

describe("the volunteer's page", { skip }, () => {
  let browser, coordinator, page;
  withCoordinator((started) => ({ browser, coordinator } = started));
  const open = async (options = DESKTOP) =>
    (page = await openPlain(browser, `${coordinator.volunteersUrl}/volunteer/`, options));

  test('has the frame of tasks at the name that the server knows', async () => {
    const source = readFileSync(new URL('../src/volunteer/task_runner.ts', import.meta.url), 'utf8');
    const [, path] = /^const FRAME = '(.+)';$/m.exec(source);
    const answer = await fetch(coordinator.url + path);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-security-policy'), /; sandbox allow-scripts$/);
  });

  test('computes the prime list to the end, after consent only, through a crash of the coordinator', async () => {
    assert.match(coordinator.said, /^volunteers +http.*\/volunteer\/$/m);
    // The second half is added after the crash, so that work is left even for a fast page.
    const half = NUMBERS.length / 2;
    const task = await coordinator.task('prime list', await sample('primes'), NUMBERS.slice(0, half));
    await open();
    await page.getByRole('heading', { name: 'project of prime list' }).waitFor();
    await page.getByText('0 of 500').waitFor();
    const asked = (response) => response.url() === `${coordinator.volunteersUrl}/pool`;
    await page.waitForResponse(asked); // it asks again, for the newest projects
    assert.deepEqual(await coordinator.nodes(), [], 'no node before consent');
    assert.equal(page.workers().length, 0);

    await press(page, 'Start computing');
    await eventually('tickets', async () => (await coordinator.status(task)).done > 50);
    await coordinator.kill();
    await page.getByText('The coordinator does not answer; trying again').waitFor();
    const before = await figure(page, 'Accepted');
    assert.ok(before > 0);
    await coordinator.restart();
    await coordinator.add(task, NUMBERS.slice(half));
    await eventually('all tickets', async () => (await coordinator.status(task)).done === 1000);
    await page.getByText('1,000 of 1,000').waitFor();
    const results = await coordinator.results(task);
    const first = Math.min(...results.map(({ ticket }) => ticket));
    assert.equal(results.length, 1000);
    for (const { ticket, result } of results)
      assert.equal(result, String(isPrime(ticket - first + 1)), `of ${ticket - first + 1}`);
    await eventually('more accepted', async () => (await figure(page, 'Accepted')) > before);
    // Chromium's messages about the connections that the crash closed.
    assert.deepEqual(
      page.problems.filter((text) => !/WebSocket connection|net::ERR_/.test(text)),
      [],
    );
  });

  test('counts the same bytes as the coordinator', async () => {
    const counted = async (name) =>
      Number(new RegExp(`^kaiseki_${name}_total (\\d+)`, 'm').exec(await coordinator.ask('GET', '/metrics'))[1]);
    const heard = async () => [await counted('bytes_received'), await counted('bytes_sent')];
    const [up, down] = await heard();
    const source = `export const calculate = () => 'x'.repeat(1000); // ${'.'.repeat(30_000)}`;
    const task = await coordinator.task('bytes', source, NUMBERS.slice(0, 100));
    await open();
    await press(page, 'Start computing');
    await eventually('all tickets', async () => (await coordinator.status(task)).done === 100);
    await eventually('all verdicts', async () => (await figure(page, 'Accepted')) === 100);
    const [received, sent] = await heard();
    // Figures have three digits.
    const close = (figure, exact) =>
      assert.ok(Math.abs(figure - exact) <= 0.01 * exact, `${figure} for ${exact} bytes`);
    close(await byteFigure(page, 'Sent'), received - up);
    close(await byteFigure(page, 'Received'), sent - down + source.length);
    assert.ok(received - up > 100_000);
  });

  /** Measures the milliseconds from the press on Stop until no worker is left. */
  async function stopped() {
    const begun = performance.now();
    await press(page, 'Stop');
    await eventually('no worker', () => page.workers().length === 0);
    return performance.now() - begun;
  }

  test('stops, and gives its tickets back', async () => {
    const task = await coordinator.task('endless', ENDLESS, [1, 2, 3]);
    await open();
    await press(page, 'Start computing');
    await eventually('a worker', () => page.workers().length > 0);
    await eventually('leases', async () => (await coordinator.status(task)).leased > 0);
    assert.ok((await stopped()) <= 1000, 'endless code');
    await page.getByRole('button', { name: 'Start computing' }).and(page.locator(':enabled')).waitFor();
    await eventually('no lease', async () => (await coordinator.status(task)).leased === 0);
    await eventually('no node', async () => !(await coordinator.nodes()).some((node) => node.connected));
    assert.deepEqual(
      await coordinator.ask('GET', `/api/tasks/${task}/errors`),
      [],
      'stopping does not fail the ticket',
    );
    for (const [milliseconds, done] of [
      [100, 2],
      [2000, 0],
    ]) {
      await coordinator.clear();
      const task = await coordinator.task('busy', busy(milliseconds), NUMBERS.slice(0, 200));
      await press(page, 'Start computing');
      await eventually('a ticket that is computed', async () => {
        const status = await coordinator.status(task);
        return status.done > done && status.leased > 0;
      });
      const spent = await stopped();
      assert.ok(spent <= 1000, `${spent} ms with tickets of ${milliseconds} ms`);
      await page.getByRole('button', { name: 'Start computing' }).and(page.locator(':enabled')).waitFor();
    }
    assert.deepEqual(page.problems, []);
  });

  test('uses the threads and the share of time of the sliders', async () => {
    const task = await coordinator.task('busy', busy(100), NUMBERS.slice(0, 200));
    await open();
    await page.evaluate(() => localStorage.setItem('kaiseki.volunteer', JSON.stringify({ threads: 1, share: 20 })));
    await page.reload();
    assert.equal(await page.getByRole('slider', { name: 'Share of the time' }).getAttribute('aria-valuetext'), '20%');
    await press(page, 'Start computing');
    await eventually('some done', async () => (await coordinator.status(task)).done >= 5);
    assert.equal(page.workers().length, 1);
    const spans = (await coordinator.results(task)).map(({ result }) => JSON.parse(result)).sort(([a], [b]) => a - b);
    for (const [i, [begun, ended]] of spans.slice(0, -1).entries()) {
      const rest = spans[i + 1][0] - ended; // at least four times as long
      assert.ok(
        rest >= 4 * (ended - begun) - 10,
        `${JSON.stringify(spans)}: ticket ${i} is rested from for ${rest} ms`,
      );
    }
    assert.deepEqual(page.problems, []);
  });

  test('pauses while hidden, if that is selected', async () => {
    const task = await coordinator.task('endless too', ENDLESS, [1]);
    await open();
    await page.getByLabel('Pause while this page is hidden').check();
    await press(page, 'Start computing');
    await eventually('a lease', async () => (await coordinator.status(task)).leased === 1);
    const hide = (hidden) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    await hide(true);
    await page.getByText('Paused while this page is hidden').waitFor();
    await eventually('no lease', async () => (await coordinator.status(task)).leased === 0);
    await eventually('no worker', () => page.workers().length === 0);
    await hide(false);
    await eventually('a lease again', async () => (await coordinator.status(task)).leased === 1);
    assert.deepEqual(page.problems, []);
  });

  test('pauses on battery', async () => {
    const task = await coordinator.task('endless on battery', ENDLESS, [1]);
    await open({
      ...DESKTOP,
      script: () => {
        globalThis.battery = Object.assign(new EventTarget(), { charging: false });
        Object.defineProperty(navigator, 'getBattery', { value: async () => globalThis.battery });
      },
    });
    await press(page, 'Start computing');
    await page.getByText('Paused while the machine runs on battery').waitFor();
    assert.equal((await coordinator.status(task)).leased, 0);
    const charge = (charging) =>
      page.evaluate((value) => {
        globalThis.battery.charging = value;
        globalThis.battery.dispatchEvent(new Event('chargingchange'));
      }, charging);
    await charge(true);
    await eventually('a lease', async () => (await coordinator.status(task)).leased === 1);
    await charge(false);
    await eventually('no lease', async () => (await coordinator.status(task)).leased === 0);
    await page.getByLabel('Pause on battery').uncheck();
    await eventually('a lease again', async () => (await coordinator.status(task)).leased === 1);
    assert.deepEqual(page.problems, []);
  });

  test("gives a task's code only the language's globals, and reports its errors", async () => {
    const globals = await coordinator.task('globals', GLOBALS, [1]);
    const failing = await coordinator.task(
      'failing',
      'export function calculate() { throw new Error("too heavy"); }',
      [1],
      { max_attempts: 1 },
    );
    await open();
    await press(page, 'Start computing');
    await eventually('its end', async () => (await coordinator.status(failing)).dead === 1);
    await page.getByText('A ticket failed: too heavy').waitFor();
    await eventually('its end', async () => (await coordinator.status(globals)).done === 1);
    const { names, code } = JSON.parse((await coordinator.results(globals))[0].result);
    assert.match(code, /none/);
    const context = new Set(
      vm.runInNewContext(`const names = [];
      for (let at = globalThis; at; at = Object.getPrototypeOf(at)) names.push(...Object.getOwnPropertyNames(at));
      names`),
    );
    assert.deepEqual(
      names.filter((name) => !context.has(name)),
      [],
    );
    assert.deepEqual(page.problems, []);
  });

  test("lets a task's code import nothing", async () => {
    const other = await coordinator.module('export const calculate = () => "other"');
    const source = `export async function calculate(input) {
      try {
        await import(String.fromCharCode(...input));
        return 'imported';
      } catch (error) {
        return error.name;
      }
    }`;
    const origin = coordinator.volunteersUrl;
    const addresses = [
      `${origin}/blobs/${other}`,
      `${origin}/modules/${other}.js`,
      `${origin}/sw.js`,
      `${origin}/pool?secret`,
      'data:text/javascript,export default 1',
      'http://example.invalid/x.js',
    ];
    const asked = [];
    await open();
    page.context().on('response', (response) => asked.push(response.url()));
    const task = await coordinator.task('importing', source, addresses);
    await press(page, 'Start computing');
    await eventually('its end', async () => (await coordinator.status(task)).done === addresses.length);
    assert.deepEqual(
      (await coordinator.results(task)).map(({ result }) => result),
      addresses.map(() => 'TypeError'),
    );
    assert.deepEqual(
      asked.filter((url) => addresses.includes(url) || url.includes(other)),
      [],
    );
  });

  test('computes in one of two tabs, and as the same node with its totals after a reload', async () => {
    const task = await coordinator.task('in one tab', busy(50), NUMBERS.slice(0, 400));
    await open();
    await press(page, 'Start computing');
    await eventually('tickets', async () => (await figure(page, 'Accepted')) > 3);
    const second = await page.context().newPage();
    await second.goto(page.url());
    await press(second, 'Start computing');
    await second.getByText('Another tab of this browser computes').waitFor();
    assert.equal(second.workers().length, 0);
    const connected = async () => (await coordinator.nodes()).filter((node) => node.connected);
    const [{ node }] = await connected();
    const { length: known } = await coordinator.nodes();
    const accepted = await figure(page, 'Accepted');
    await page.close();
    await second.getByText(/^Computing on/).waitFor();
    const before = (await coordinator.status(task)).done;
    await eventually('more tickets', async () => (await coordinator.status(task)).done > before);
    assert.deepEqual(
      (await connected()).map((one) => one.node),
      [node],
    );
    await second.reload();
    assert.ok((await figure(second, 'Accepted')) >= accepted);
    await press(second, 'Start computing');
    await eventually('the same node', async () => (await connected()).some((one) => one.node === node));
    assert.equal((await coordinator.nodes()).length, known);
  });

  test('says soon that the coordinator does not answer, although the connection is open', async () => {
    const task = await coordinator.task('in the dark', busy(10), NUMBERS.slice(0, 3));
    await open();
    await press(page, 'Start computing');
    await eventually('its end', async () => (await coordinator.status(task)).done === 3);
    await page.getByText('Connected, waiting for work').waitFor();
    coordinator.child.kill('SIGSTOP');
    try {
      await page.getByText('The coordinator does not answer', { exact: true }).waitFor({ timeout: 20_000 });
    } finally {
      coordinator.child.kill('SIGCONT');
    }
    await page.getByText(/^(Connected|Computing)/).waitFor();
  });

  test('shows what it consents to before the button on a phone', async () => {
    await coordinator.task('seen first', ENDLESS, [1]);
    await open(PHONE);
    const at = async (place) => (await place.boundingBox()).y;
    const consent = page.locator('.consent');
    await consent.getByText('project of seen first').waitFor();
    const button = await at(page.getByRole('button', { name: 'Start computing' }));
    assert.ok((await at(consent)) < button);
    assert.equal(await page.locator('.figures').count(), 0);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Console' }).click();
    await page.getByLabel('Token').waitFor();
  });

  /** The native command trains the network in this file until it is told to stop. */
  function trainForever(net, batch) {
    const what = `${net} --data digits:4000 --batch-size ${batch} --epochs 10000 --device cpu --pool-mode data`;
    const where = ['--pool', coordinator.url, '--pool-token-file', join(coordinator.folder, 'author.token')];
    const child = spawn(COMMAND, ['train', ...what.split(' '), ...where], {
      cwd: coordinator.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
    return { child, ended: once(child, 'exit'), said: () => said };
  }

  /** Whether an operation runs in the worker, which then answers nothing. */
  const isBusy = (worker) => {
    const answers = worker.evaluate(() => false).catch(() => false);
    return Promise.race([answers, setTimeout(500, true, { ref: false })]);
  };

  for (const threads of [1, 2])
    test(`stops within a second in a long ticket of training, threads: ${threads}`, async () => {
      await open();
      const settings = JSON.stringify({ threads, share: 100 });
      await page.evaluate((settings) => localStorage.setItem('kaiseki.volunteer', settings), settings);
      await page.reload();
      const net = join(coordinator.folder, 'wide.json');
      writeFileSync(net, WIDE);
      const { child, ended, said } = trainForever(net, 40);
      try {
        await press(page, 'Start computing');
        await eventually('a ticket', async () => {
          assert.equal(child.exitCode, null, said());
          return (await coordinator.nodes()).some(({ connected, leases }) => connected && leases > 0);
        });
        await eventually('threads', () => page.workers().length >= threads);
        await eventually('a long operation', () => isBusy(page.workers().find((w) => w.url().includes('training'))));
        const spent = await stopped();
        assert.ok(spent <= 1000, `${spent} ms`);
        assert.deepEqual(page.problems, []);
      } finally {
        child.kill('SIGINT');
      }
      await ended;
    });

  test('trains for the native command, also when training starts later, and the console shows the curve', async () => {
    await open();
    await press(page, 'Start computing');
    await page.getByText(/^(Computing on|Connected)/).waitFor();
    const { child, ended, said } = trainForever(LENET, 100);
    try {
      const console_ = await openPlain(browser, `${coordinator.url}/console/`);
      await login(console_, coordinator.token);
      await eventually('tickets', async () => {
        assert.equal(child.exitCode, null, said());
        return (await figure(page, 'Accepted')) > 3;
      });
      await eventually('samples a second', async () => (await figure(page, 'Samples/s')) > 0);
      await console_
        .getByRole('navigation', { name: 'Parts of the console' })
        .getByRole('link', { name: 'Projects' })
        .click();
      await console_.locator('.project-head').first().waitFor();
      if (!(await console_.locator('.project-head[aria-expanded=true]').count()))
        await console_.locator('.project-head').first().click();
      await console_.getByRole('img', { name: /^Loss, now \d/ }).waitFor();
      await eventually('its speed', async () =>
        (await coordinator.nodes()).some((node) => node.connected && node.gflops > 0),
      );
      assert.deepEqual(console_.problems, []);
      assert.deepEqual(page.problems, []);
    } finally {
      child.kill('SIGINT');
    }
    assert.deepEqual(await ended, [0, null], said());
    assert.match(said(), /[1-9][\d,]* tickets by nodes/);
  });

  for (const { name, ...options } of LOOKS)
    test(`is accessible: ${name}`, async () => {
      await coordinator.task(`busy ${name}`, busy(20), NUMBERS.slice(0, 60));
      await open({ ...options, bypassCSP: true }); // the policy would block axe's script
      await page.getByRole('heading', { name: `project of busy ${name}` }).waitFor();
      await assertAccessible(page);
      await assertFits(page, `volunteer-idle-${name}`);
      await press(page, 'Start computing');
      await eventually('tickets', async () => (await figure(page, 'Accepted')) > 5);
      await assertAccessible(page);
      await assertFits(page, `volunteer-running-${name}`);
    });
});
