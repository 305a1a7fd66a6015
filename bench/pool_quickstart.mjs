// SPDX-License-Identifier: MIT
// Trains LeNet on MNIST through a coordinator with two headless Chromium nodes and a native node. During training it
// kills one Chromium and starts another native node. Prints a JSON line with the accuracy on the test pictures:
//
//   KAISEKI_DATA=FOLDER node bench/pool_quickstart.mjs COMMAND WASM_BUILD_FOLDER [EPOCHS]
//
// COMMAND is a `kaiseki` that contains the page. tests/web/run.sh builds it and WASM_BUILD_FOLDER.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [command, build, epochs = '2'] = process.argv.slice(2);
const { chromium } = createRequire(resolve(build, 'web', 'package.json'))('playwright-core');
const state = await mkdtemp(join(tmpdir(), 'kaiseki-'));
const env = { ...process.env, KAISEKI_STATE_DIR: state, KAISEKI_DEVICE: 'cpu' };
const children = [],
  browsers = [];

function start(...args) {
  const child = spawn(command, args, { env, cwd: state, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  child.said = '';
  child.stdout.on('data', (text) => (child.said += text));
  return child;
}

const seconds = (count) => new Promise((done) => setTimeout(done, 1000 * count));

async function until(what, look, most = 120) {
  for (let end = Date.now() + 1000 * most; Date.now() < end; await seconds(0.2)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`pool_quickstart: not within ${most} s: ${what}`);
}

/** Starts a Chromium and opens the volunteer's page, which computes tickets. */
async function volunteer(url) {
  const server = await chromium.launchServer({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  browsers.push(server);
  const page = await (await chromium.connect(server.wsEndpoint())).newPage();
  await page.goto(`${url}/volunteer/`);
  await page.getByRole('button', { name: 'Start computing' }).click();
  return server;
}

try {
  const serve = start('serve', '--port', '0', '--state', state);
  const url = await until('the coordinator', () => /^coordinator +(\S+)/m.exec(serve.said)?.[1]);
  const token = join(state, 'author.token');
  const nodes = async () => {
    const authorization = `Bearer ${(await readFile(token, 'utf8')).trim()}`;
    return await (await fetch(`${url}/api/nodes`, { headers: { authorization } })).json();
  };
  const there = async () => (await nodes()).filter((node) => node.connected).length;
  const one = await volunteer(url);
  await volunteer(url);
  start('join', url, '--jobs', '1', '--threads', '1', '--name', 'native');
  await until('three nodes', async () => (await there()) === 3);

  const begun = Date.now();
  const network = resolve(import.meta.dirname, '../models/lenet.json');
  const train = start(
    'train',
    network,
    '--data',
    'mnist',
    '--epochs',
    epochs,
    '--pool',
    'serve',
    '--pool-port',
    new URL(url).port,
  );
  const ended = once(train, 'exit');
  const accepted = async () => (await nodes()).reduce((sum, node) => sum + node.accepted, 0);
  const tickets = 4 * Math.ceil(60000 / 64) * Number(epochs);
  await until('a third of the tickets', async () => (await accepted()) > tickets / 3, 3600);
  one.process().kill('SIGKILL');
  await until('its end', async () => (await there()) === 2);
  start('join', url, '--jobs', '1', '--threads', '1', '--name', 'late');
  await until('one more', async () => (await there()) === 3);
  const [status] = await ended;
  const accuracy = Number(
    /test accuracy ([\d.]+) %/.exec(train.said.slice(train.said.lastIndexOf('test accuracy')))?.[1],
  );
  console.log(
    JSON.stringify({
      bench: 'pool_quickstart',
      status,
      accuracy,
      epochs: Number(epochs),
      seconds: (Date.now() - begun) / 1000,
      nodes: (await nodes()).map(({ name, connected, accepted }) => ({ name, connected, accepted })),
      summary: /^pool +(.*tickets by nodes.*)$/m.exec(train.said)?.[1],
    }),
  );
  process.exitCode = status === 0 && accuracy >= 98.5 ? 0 : 1;
} finally {
  for (const browser of browsers) await Promise.race([browser.close().catch(() => {}), seconds(3)]);
  const running = children.filter((child) => child.exitCode === null && child.signalCode === null);
  const ends = running.map((child) => once(child, 'exit'));
  for (const child of running) child.kill();
  await Promise.all(ends);
  await rm(state, { recursive: true, force: true });
}
process.exit();
