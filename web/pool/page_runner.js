// SPDX-License-Identifier: MIT
// What a page gives its PoolNode: runners in web workers that rest as much as they are asked to, and blobs whose hash is
// checked.

import {fetchBytes, keepBlobs} from './blobs.js';
import {Runner} from './runner.js';

const moduleSeconds = 60, trainingSeconds = 300; // a ticket takes at most; training waits no longer for its own

function adapt(worker, lent) {
  const end = () => {
    worker.terminate();
    lent?.end();
  };
  const adapter = {post: (message) => worker.postMessage(message), end};
  worker.onmessage = ({data}) => adapter.onMessage?.(data);
  worker.onerror = (event) => {
    event.preventDefault();
    adapter.onError?.(event);
  };
  return adapter;
}

/** Computes tasks that are modules, on one thread. */
export const taskRunner = () => new Runner(
  () => adapt(new Worker(new URL('./task_worker.js', import.meta.url), {type: 'module', name: 'task'})), moduleSeconds);

/** Computes tickets of training, with so many threads; lendThreads is the package's. */
export const trainingRunner = (threads, fetchBlob, lendThreads) => new Runner(() => {
  const worker = new Worker(new URL('./training_worker.js', import.meta.url), {type: 'module', name: 'training'});
  const lent = lendThreads();
  worker.postMessage({threads, lent: lent.port}, [lent.port]);
  return adapt(worker, lent);
}, trainingSeconds, fetchBlob);

const lookMilliseconds = 500; // how often a rest asks whether it is still as long

/** Computes for the part `share()` (0 to 1) of the time: after each ticket `runner` rests before it begins the next. */
export class RestingRunner {
  constructor(runner, share) {
    this.runner = runner;
    this.share = share;
    this.ended = this.spent = 0;
  }

  async run(job) {
    for (let rest; (rest = this.ended + this.spent * (1 / this.share() - 1) - performance.now()) > 0;)
      await this.sleep(Math.min(rest, lookMilliseconds));
    const begun = performance.now();
    try {
      return await this.runner.run(job);
    } finally {
      this.ended = performance.now();
      this.spent = this.ended - begun;
    }
  }

  sleep(milliseconds) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, milliseconds);
      this.wake = () => {
        clearTimeout(timer);
        reject(new Error('stopped'));
      };
    });
  }

  /** `again`: it goes on with other tickets, and rests before them as ever. */
  stop(again = false) {
    this.wake?.();
    if (!again) this.ended = this.spent = 0;
    this.runner.stop();
  }
}

async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** fetchBlob(hash) for trainers, which keep what they need themselves. */
export function makeFetch(onBytes, seconds) {
  return async (hash) => {
    const bytes = await fetchBytes(`/blobs/${hash}`, seconds);
    if (await sha256(bytes) !== hash) throw new Error(`blob ${hash}: other bytes`);
    onBytes(bytes.length);
    return bytes;
  };
}

/** fetchBlob(hash) of a PoolNode. */
export const makeKeepingFetch = (onBytes, seconds) => keepBlobs(makeFetch(onBytes, seconds));
