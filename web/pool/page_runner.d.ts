// SPDX-License-Identifier: MIT
import type { Job, TaskRunner } from './node.js';

type FetchBlob = (hash: string) => Promise<Uint8Array>;

export function taskRunner(): TaskRunner;
/** `lendThreads` is the package's. */
export function trainingRunner(
  threads: number, fetchBlob: FetchBlob, lendThreads: () => { port: MessagePort; end(): void }): TaskRunner;

export class RestingRunner implements TaskRunner {
  /** share(): the part of the time that it computes, 0 to 1. */
  constructor(runner: TaskRunner, share: () => number);
  run(job: Job): Promise<Uint8Array | number>;
  stop(again?: boolean): void;
}

/** `seconds`: without a byte of a blob, at most. */
export function makeFetch(onBytes: (count: number) => void, seconds?: number): FetchBlob;
/** The same, which keeps the newest. */
export function makeKeepingFetch(onBytes: (count: number) => void, seconds?: number): FetchBlob;
