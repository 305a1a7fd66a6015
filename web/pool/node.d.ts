// SPDX-License-Identifier: MIT
// A node of the pool (docs/protocol.md).

/** A task's ticket has a module, one of training a function; `measure` seconds give the GFLOP/s instead. */
export interface Job {
  module?: string;
  code?: Uint8Array;
  function?: string;
  input?: Uint8Array;
  blobs?: Uint8Array[];
  measure?: number;
}

export interface TaskRunner {
  run(job: Job): Promise<Uint8Array | number>;
  /** `again`: it goes on with other tickets. */
  stop(again?: boolean): void;
}

export interface NodeOptions {
  connect(): WebSocket;
  fetchBlob(hash: string): Promise<Uint8Array>;
  /** Of modules. */
  runners: TaskRunner[];
  trainers?: TaskRunner[];
  info: { name: string; device: string; threads: number; gflops: number };
  /** Seconds between two attempts to connect. */
  longestWait?: number;
  onEvent?(name: string, details: Record<string, any>): void;
}

export class PoolNode {
  constructor(options: NodeOptions);
  start(): Promise<{ accepted: number; refused: number; failed: number }>;
  /** At most so many runners at once; 0 stops them at once, and gives back what is not done. */
  use(threads: number): void;
  /** Gives back what is not done, and says hello anew: with other trainers, or another speed. */
  announce(what: Pick<NodeOptions, 'info'> & { trainers: TaskRunner[] }): void;
  /** Ends when the coordinator has answered what is done, or after `seconds`. */
  stop(seconds?: number): Promise<unknown>;
}
