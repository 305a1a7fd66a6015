// SPDX-License-Identifier: MIT
// The parts of a PoolNode in a page. They are runners in web workers, a throttle, and downloads with a check of the
// hash.

import { fetchBytes, cacheBlobs } from './blobs.js';
import { Runner } from './runner.js';
import { blobCacheBytes } from './training.js';

const trainingSeconds = 300; // the time limit of a ticket

/** @typedef {import('./node.js').Job} Job */
/** @typedef {import('./node.js').TaskRunner} TaskRunner */
/** @typedef {(hash: string) => Promise<Uint8Array>} FetchBlob */

function adapt(worker, lentThreads) {
  const end = () => {
    worker.terminate();
    lentThreads?.end();
  };
  const adapter = { post: (message) => worker.postMessage(message), end };
  worker.onmessage = ({ data }) => adapter.onMessage?.(data);
  worker.onerror = (event) => {
    event.preventDefault();
    adapter.onError?.(event);
  };
  return adapter;
}

/**
 * Computes training tickets with `threads` threads. `memory` is the node's, in bytes. `lendThreads` is the package's
 * function.
 * @param {number} threads
 * @param {number} memory
 * @param {FetchBlob} fetchBlob
 * @param {(onFailure: (reason: string) => void) => { port: MessagePort, end(): void }} lendThreads
 * @returns {TaskRunner}
 */
export const trainingRunner = (threads, memory, fetchBlob, lendThreads) =>
  new Runner(
    () => {
      const worker = new Worker(new URL('./training_worker.js', import.meta.url), { type: 'module', name: 'training' });
      const lentThreads = lendThreads((reason) => adapter.onError?.({ message: `a thread failed: ${reason}` }));
      const adapter = adapt(worker, lentThreads);
      const options = { threads, cacheBytes: blobCacheBytes(memory), lent: lentThreads.port };
      worker.postMessage(options, [options.lent]);
      return adapter;
    },
    trainingSeconds,
    fetchBlob,
  );

const pollMilliseconds = 500; // how often a pause reads share() again

/**
 * Limits the computing time. After each ticket, pauses so that `runner` computes for the part `share()` (0 to 1) of the
 * time.
 */
export class ThrottledRunner {
  /**
   * @param {TaskRunner} runner
   * @param {() => number} share
   */
  constructor(runner, share) {
    this.runner = runner;
    this.share = share;
    this.ended = this.spent = 0;
  }

  /** @param {Job} job */
  async run(job) {
    for (let pause; (pause = this.ended + this.spent * (1 / this.share() - 1) - performance.now()) > 0;)
      await this.sleep(Math.min(pause, pollMilliseconds));
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

  /** With `again`, later tickets follow, and the pause before them still applies. */
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

/**
 * Makes fetchBlob(hash) for trainers, which have their own cache. It rejects after `seconds` without a byte, or if
 * onBytes() throws.
 * @param {(count: number) => void} onBytes
 * @param {number} [seconds]
 * @returns {FetchBlob}
 */
export function makeFetch(onBytes, seconds) {
  return async (hash) => {
    const bytes = await fetchBytes(`/blobs/${hash}`, { seconds, onBytes });
    if ((await sha256(bytes)) !== hash) throw new Error(`blob ${hash}: the received bytes have another hash`);
    return bytes;
  };
}

/**
 * Makes fetchBlob(hash) with a cache, for a PoolNode.
 * @param {(count: number) => void} onBytes
 * @param {number} [seconds]
 * @returns {FetchBlob}
 */
export const makeCachedFetch = (onBytes, seconds) => cacheBlobs(makeFetch(onBytes, seconds));
