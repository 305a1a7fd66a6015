// SPDX-License-Identifier: MIT
// The native command that contains the page and serves it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const command = process.env.KAISEKI_COMMAND ?? '';

/** Starts the command. Returns its address and a close() that returns its exit status. */
export async function serveByCommand() {
  if (!command) throw new Error('expected the path of a command that has the page in KAISEKI_COMMAND, got nothing');
  const state = await mkdtemp(join(tmpdir(), 'kaiseki-'));
  const server = spawn(command, ['serve', '--port', '0', '--state', state], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(server, 'exit');
  let address;
  for await (const line of createInterface(server.stdout)) {
    address = line.match(/^pages +(.*)/)?.[1];
    if (address) break;
  }
  return {
    address,
    async close() {
      server.kill();
      const [status] = await ended;
      await rm(state, { recursive: true, force: true });
      return status;
    },
  };
}
