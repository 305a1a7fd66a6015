#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// A node without a page:
//   node web/pool/join.js URL [--token-file FILE] [--threads N] [--name NAME] [--seconds N] [--memory MB] [--gflops N]
// [--package FOLDER]
// The token may also be in the environment variable KAISEKI_NODE_TOKEN. Training needs the npm package kaiseki,
// installed or in FOLDER.

import { spawn } from 'node:child_process';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { fetchBytes, cacheBlobs } from './blobs.js';
import { expelledCode } from './frame.js';
import { PoolNode } from './node.js';
import { Runner } from './runner.js';
import { blobCacheBytes, trainingFunction } from './training.js';

// Node accepts these flags only on its own command line, so this script starts itself again with them.
const flags = [
  '--experimental-websocket',
  '--experimental-vm-modules',
  '--disallow-code-generation-from-strings',
  '--no-warnings',
];

const measureSeconds = 2;
const leastHeap = 16; // in MiB; Node needs it to start a worker
const mostProofCharacters = 4096;

function usage(problem) {
  console.error(
    `join: ${problem}; usage: node join.js URL [--token-file FILE] [--threads N] [--name NAME] ` +
      '[--seconds N] [--memory MB] [--gflops N] [--package FOLDER]',
  );
  process.exit(1);
}

/** The URL class has normalized the host already. */
const isThisMachine = (host) => host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);

function readOptions() {
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        'token-file': { type: 'string' },
        threads: { type: 'string' },
        name: { type: 'string' },
        seconds: { type: 'string' },
        memory: { type: 'string' },
        gflops: { type: 'string' },
        package: { type: 'string' },
      },
    });
  } catch (error) {
    usage(error.message);
  }
  const { values, positionals } = parsed;
  if (positionals.length !== 1 || !/^https?:\/\/[^/]+\/?$/.test(positionals[0]))
    usage('expected a URL such as http://127.0.0.1:8080');
  const number = (name, otherwise) => {
    const value = values[name] === undefined ? otherwise : Number(values[name]);
    if (!(value > 0)) usage(`expected --${name} above 0`);
    return value;
  };
  const token = values['token-file']
    ? readFileSync(values['token-file'], 'utf8').trim()
    : process.env.KAISEKI_NODE_TOKEN;
  const { protocol, hostname } = new URL(positionals[0]);
  if (token && protocol === 'http:' && !isThisMachine(hostname))
    usage(`expected https to send a token to another machine, got http://${hostname}`);
  return {
    url: positionals[0].replace(/\/$/, ''),
    token,
    name: values.name ?? os.hostname(),
    threads: number('threads', Math.max(1, os.availableParallelism() - 1)),
    seconds: number('seconds', 60),
    trainingSeconds: number('seconds', 300),
    memory: 2 ** 20 * number('memory', Math.min(process.constrainedMemory?.() || Infinity, os.totalmem()) / 2 ** 20),
    gflops: values.gflops && number('gflops'),
    folder: values.package,
  };
}

function makeWorker(script, options) {
  const worker = new Worker(new URL(script, import.meta.url), { env: {}, argv: [], stdin: false, ...options });
  const adapter = { post: (message) => worker.postMessage(message), end: () => worker.terminate() };
  worker.on('message', (message) => adapter.onMessage?.(message));
  worker.on('error', (error) => adapter.onError?.(error));
  worker.on('exit', () => adapter.onError?.());
  return adapter;
}

async function getBlob(url, hash) {
  const bytes = await fetchBytes(`${url}/blobs/${hash}`);
  if (createHash('sha256').update(bytes).digest('hex') !== hash)
    throw new Error(`blob ${hash}: the received bytes have another hash`);
  return bytes;
}

/**
 * Makes the runner that computes training tickets with all threads, and measures this node's speed. Without the package
 * there is no runner.
 */
async function makeTrainer({ url, threads, trainingSeconds, memory, gflops, folder }) {
  let runner;
  try {
    const address = folder
      ? pathToFileURL(path.join(folder, 'src', 'sync.js')).href
      : import.meta.resolve('kaiseki/sync');
    const workerData = { address, threads, cacheBytes: blobCacheBytes(memory) };
    const make = () => makeWorker('./training_worker_node.js', { workerData });
    runner = new Runner(make, trainingSeconds, (hash) => getBlob(url, hash));
    const measured = await runner.run({ function: trainingFunction, measure: gflops ? 0 : measureSeconds });
    return { trainers: [runner], gflops: gflops ?? measured };
  } catch (error) {
    runner?.stop();
    print({
      event: 'no_training',
      error: `${error.message}; install the npm package kaiseki, or give its folder with --package`,
    });
    return { trainers: [], gflops: gflops ?? 0 };
  }
}

/** The body of a small answer, and the address that it came from. */
function getFrom(url) {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent: false, signal: AbortSignal.timeout(10000) }, (answer) => {
      const address = answer.socket.remoteAddress.replace(/^::ffff:(?=.*\.)/, '');
      let body = '';
      answer.setEncoding('utf8').on('error', reject);
      answer.on('data', (text) => {
        body += text;
        if (body.length > mostProofCharacters)
          request.destroy(new Error(`the answer has more than ${mostProofCharacters} characters`));
      });
      answer.on('end', () => resolve({ body, address }));
    });
    request.on('error', reject);
  });
}

/**
 * The address at which a program proves that it knows the token (docs/protocol.md); undefined if it does not. Rejects
 * if it is no coordinator.
 */
async function provenAddress(url, token) {
  const nonce = randomBytes(16).toString('hex');
  const { body, address } = await getFrom(`${url}/proof?nonce=${nonce}`);
  const port = new URL(url).port || '80';
  const text = `kaiseki coordinator ${address} ${port} ${nonce}`;
  const isProven = JSON.parse(body).proofs.includes(createHmac('sha256', token).update(text).digest('hex'));
  return isProven ? address : undefined;
}

/** A WebSocket that sends the token only to an address that knows it. Otherwise it calls `refuse`. */
function provenSocket(url, token, open, refuse) {
  const outer = { readyState: 0, send() {}, close: () => (outer.onerror = undefined) };
  provenAddress(url, token)
    .then((address) => {
      if (!outer.onerror) return; // closed meanwhile
      if (!address) return refuse();
      const proven = new URL(url);
      proven.hostname = address.includes(':') ? `[${address}]` : address;
      const inner = open(proven.origin);
      inner.binaryType = 'arraybuffer';
      for (const name of ['onopen', 'onmessage', 'onerror', 'onclose']) inner[name] = (event) => outer[name]?.(event);
      outer.send = (data) => inner.send(data);
      outer.close = () => inner.close();
      Object.defineProperty(outer, 'readyState', { get: () => inner.readyState });
    })
    .catch(() => outer.onerror?.());
  return outer;
}

/** Returns the HTTP status of one attempt to join, because WebSocket does not report it. 0 means no answer. */
function askStatus(url, headers) {
  return new Promise((resolve) => {
    const request = (url.startsWith('https') ? https : http).get(`${url}/node`, {
      timeout: 10000,
      headers: {
        ...headers,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      },
    });
    const end = (status) => {
      request.destroy();
      resolve(status);
    };
    request.on('response', ({ statusCode }) => end(statusCode));
    request.on('upgrade', (_, socket) => {
      socket.destroy();
      end(101);
    });
    request.on('timeout', () => end(0));
    request.on('error', () => end(0));
  });
}

/** Escapes control characters: tasks and the coordinator send texts, which must not control the terminal. */
function print(value) {
  console.log(JSON.stringify(value).replace(/[\x7f-\x9f]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`));
}

async function main() {
  const options = readOptions();
  const { url, token, name, threads, seconds, memory } = options;
  const { trainers, gflops } = await makeTrainer(options);
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const isProven = token && url.startsWith('http:');
  const refuse = () => {
    console.error('join: the coordinator refuses the token; pass its node.token with --token-file');
    process.exit(1);
  };
  const open = (to) => new WebSocket(`${to.replace(/^http/, 'ws')}/node`, { headers });
  const onEvent = async (event, details) => {
    print({ time: Date.now() / 1000, event, ...details });
    if (event === 'waiting' && details.code === expelledCode) {
      console.error(`join: the coordinator expelled this node${details.reason && `: ${details.reason}`}`);
      process.exit(1);
    }
    if (event === 'waiting' && details.code === 1006 && !isProven && (await askStatus(url, headers)) === 401) refuse();
  };
  const node = new PoolNode({
    connect: () => (isProven ? provenSocket(url, token, open, refuse) : open(url)),
    fetchBlob: cacheBlobs((hash) => getBlob(url, hash)),
    runners: Array.from(
      { length: threads },
      () =>
        new Runner(
          ({ memory }) =>
            makeWorker('./task_worker_node.js', {
              resourceLimits: { maxOldGenerationSizeMb: Math.max(leastHeap, memory / 2 ** 20) },
            }),
          seconds,
        ),
    ),
    trainers,
    info: { name, device: `Node ${process.version}`, threads, gflops, memory_bytes: memory },
    onEvent,
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => node.stop());
  const counts = await node.start();
  print({ event: 'ended', ...counts });
  process.exit(0);
}

if (process.execArgv.includes('--experimental-vm-modules')) {
  process.once('disconnect', () => process.exit(1)); // the parent process has ended
  await main();
} else {
  if (!globalThis.WebSocket && !process.allowedNodeEnvironmentFlags.has('--experimental-websocket')) {
    console.error(`join: expected Node 20.10 or newer, which has WebSocket, got ${process.version}`);
    process.exit(1);
  }
  const child = spawn(process.execPath, [...flags, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal ? 1 : code));
}
