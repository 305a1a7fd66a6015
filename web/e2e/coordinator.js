// SPDX-License-Identifier: MIT
// A coordinator of the native command, which serves the built pages, and an author's calls to its API.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { after, afterEach, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PAGE, launch } from './page.js';

export const COMMAND = process.env.KAISEKI_COMMAND ?? '';
export const skip = !existsSync(COMMAND) && 'no native command';

export const sample = (name) => readFile(fileURLToPath(new URL(`../samples/${name}.js`, import.meta.url)));

export class Coordinator {
  static async start() {
    const coordinator = new Coordinator();
    coordinator.folder = await mkdtemp(join(tmpdir(), 'kaiseki-'));
    await coordinator.run(0);
    return coordinator;
  }

  async run(port) {
    this.child = spawn(
      COMMAND,
      ['serve', '--web', PAGE, '--port', port, '--state', this.folder, '--log', join(this.folder, 'log')],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    this.said = '';
    for await (const text of this.child.stdout.iterator({ destroyOnReturn: false })) {
      this.said += text;
      if (/^authors .*\n/m.test(this.said)) break;
    }
    this.url = /^coordinator +(\S+)/m.exec(this.said)?.[1];
    assert.ok(this.url, `the coordinator said: ${this.said}`);
    this.token = (await readFile(join(this.folder, 'author.token'), 'utf8')).trim();
  }

  #relays = new Map();

  /** Returns a URL of this coordinator. It sees clients of this URL at `address`, such as 127.0.0.2. */
  async urlFor(address) {
    const { port } = new URL(this.url);
    if (!this.#relays.has(address)) {
      const relay = createServer((client) => {
        const inner = connect({ host: '127.0.0.1', port, localAddress: address });
        for (const [from, to] of [
          [client, inner],
          [inner, client],
        ])
          pipeline(from, to, () => {}); // either side may break off
      });
      await once(relay.listen(0, '127.0.0.1'), 'listening');
      this.#relays.set(address, relay);
    }
    return `http://127.0.0.1:${this.#relays.get(address).address().port}`;
  }

  /** Ends the process as a crash does. */
  async kill() {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  restart = () => this.run(new URL(this.url).port);

  get runs() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  async close() {
    if (this.runs) await this.kill();
    for (const relay of this.#relays.values()) relay.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  async ask(method, path, body, token = this.token) {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${token}` },
      body: body instanceof Uint8Array || body === undefined ? body : JSON.stringify(body),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text;
  }

  /** Uploads code for tasks and returns its hash. */
  async module(source) {
    const code = Buffer.from(source);
    const hash = createHash('sha256').update(code).digest('hex');
    await this.ask('PUT', `/blobs/${hash}`, code);
    return hash;
  }

  /** Makes a task in its own project, with a module of this source. The nodes have one address, so none is compared. */
  async task(name, source, inputs, more = {}) {
    const module = await this.module(source);
    const { project } = await this.ask('POST', '/api/projects', { name: `project of ${name}` });
    const spec = { name, module, verification: 'none', ...more };
    const { task } = await this.ask('POST', `/api/projects/${project}/tasks`, spec);
    await this.add(task, inputs);
    return task;
  }

  add = (task, inputs) =>
    this.ask('POST', `/api/tasks/${task}/tickets`, { tickets: inputs.map((input) => ({ input: String(input) })) });

  /** Removes the projects of a failed test, so that the next test starts clean. */
  async clear() {
    if (!this.runs) await this.restart();
    for (const { task, state } of await this.ask('GET', '/api/tasks'))
      if (state !== 'cancelled') await this.ask('PATCH', `/api/tasks/${task}`, { state: 'cancelled' });
  }

  status = (task) => this.ask('GET', `/api/tasks/${task}`);
  nodes = () => this.ask('GET', '/api/nodes');
  results = async (task) =>
    (await this.ask('GET', `/api/tasks/${task}/results`))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
}

/** Starts a browser and a coordinator before the tests of a describe block. Cleans up after each test. */
export function withCoordinator(onStart) {
  let browser, coordinator;
  before(async () => {
    browser = await launch();
    coordinator = await Coordinator.start();
    onStart({ browser, coordinator });
  });
  after(async () => {
    await browser?.close();
    await coordinator?.close();
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    await coordinator.clear();
  });
}
