// SPDX-License-Identifier: MIT
// The coordinator's API (docs/openapi.yaml), called with the user's token.
import { backoffDelay } from '../logic/backoff';

export interface Project {
  project: number;
  name: string;
  weight: number;
  /** Whether it has a training curve. */
  trains: boolean;
}
export interface Point {
  step: number;
  loss?: number;
  accuracy?: number;
  /** Steps and epochs of the whole training, and the epoch of this step. */
  steps?: number;
  epoch?: number;
  epochs?: number;
}
/** Ends of the points in seconds since 1970, tickets a second, and connected nodes. */
export interface History {
  time: number[];
  rate: number[];
  nodes: number[];
}
export interface Task {
  task: number;
  project: number;
  name: string;
  state: 'running' | 'paused' | 'cancelled';
  function: string;
  module: string;
  priority: number;
  verification: string;
  free: number;
  leased: number;
  done: number;
  dead: number;
  /** The reason why no ticket can finish now. Empty: tickets can finish. */
  waits: string;
}
export interface PoolNode {
  node: string;
  name: string;
  device: string;
  threads: number;
  gflops: number;
  trusted: boolean;
  connected: boolean;
  leases: number;
  accepted: number;
  failed: number;
  consecutive_valid: number;
  last_seen: number;
  /** The reason why the node was expelled. Empty: it was not expelled. */
  expelled: string;
  /** The reason why the node is away, if the coordinator knows it. */
  reason?: string;
}
export interface TicketError {
  ticket: number;
  node: string;
  time: number;
  error: string;
}
export type Role = 'author' | 'viewer';
/** A ticket's result: `dead`, or bytes as text or in Base64. */
export interface Result {
  sequence: number;
  ticket: number;
  dead?: boolean;
  result?: string;
  result_base64?: string;
}

/** Status 0 means no answer. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Reads the number of ended tickets, done and dead, from the coordinator's metrics. */
export function endedTickets(metrics: string): number {
  const counted = [...metrics.matchAll(/^kaiseki_pool_total\{event="(?:accepted|dead)"\} (\d+)/gm)];
  return counted.reduce((all, [, count]) => all + Number(count), 0);
}

/** Returns an empty list if the thing no longer exists. */
export async function unlessGone<One>(list: Promise<One[]>): Promise<One[]> {
  try {
    return await list;
  } catch (error) {
    if ((error as ApiError).status === 404) return [];
    throw error;
  }
}

const ANSWER_MILLISECONDS = 10000; // time-out of a request
const AGAIN_MILLISECONDS = 1000;
const SILENCE_MILLISECONDS = 60_000; // time-out of a stream of results; the coordinator sends a line every few seconds

export class Api {
  constructor(private readonly token: string) {}

  role = async (): Promise<Role> => (await this.#request<{ role: Role }>('GET', '/role')).role;
  projects = () => this.#request<Project[]>('GET', '/projects');
  curve = (project: number) => this.#request<Point[]>('GET', `/projects/${project}/curve`);
  /** Of the last seconds. 0: all. */
  history = (seconds: number) => this.#request<History>('GET', `/history?seconds=${seconds}`);
  tasks = () => this.#request<Task[]>('GET', '/tasks');
  task = (task: number) => this.#request<Task>('GET', `/tasks/${task}`);
  nodes = () => this.#request<PoolNode[]>('GET', '/nodes');
  /** The number of tickets that have ended since the coordinator started. */
  ended = async () => endedTickets(await (await this.#fetch('GET', '/metrics')).text());
  errors = (task: number) => this.#request<TicketError[]>('GET', `/tasks/${task}/errors`);
  change = (task: number, what: { state?: Task['state']; priority?: number }) =>
    this.#request('PATCH', `/tasks/${task}`, what);
  expel = (node: string) => this.#request('DELETE', `/nodes/${encodeURIComponent(node)}`);

  addProject = (name: string) => this.#request<{ project: number }>('POST', '/projects', { name });
  removeProject = (project: number) => this.#request('DELETE', `/projects/${project}`);
  addTask = (project: number, what: { name: string; function: string; module: string }) =>
    this.#request<{ task: number }>('POST', `/projects/${project}/tasks`, what);
  addTickets = (task: number, inputs: string[]) =>
    this.#request<{ first: number }>('POST', `/tasks/${task}/tickets`, { tickets: inputs.map((input) => ({ input })) });

  /** Uploads a blob and returns its hash. */
  async putBlob(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
    await this.#fetch('PUT', `/blobs/${hash}`, bytes);
    return hash;
  }

  /** Yields the result of each finished ticket until no ticket is open. Reconnects if the coordinator is away. */
  async *results(task: number): AsyncGenerator<Result> {
    for (let after = 0, failures = 0; ;) {
      try {
        for await (const line of this.#lines(`/api/tasks/${task}/results?follow=1&after=${after}`)) {
          if (!line) continue; // a keep-alive line
          const result: Result = JSON.parse(line);
          after = result.sequence;
          failures = 0;
          yield result;
        }
        return;
      } catch (error) {
        if ((error as ApiError).status > 0) throw error;
        await new Promise((resolve) => setTimeout(resolve, backoffDelay(AGAIN_MILLISECONDS, failures++)));
      }
    }
  }

  /** Rejects if nothing arrives for a while. */
  async *#lines(path: string): AsyncGenerator<string> {
    const silence = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const listen = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MILLISECONDS);
    };
    try {
      listen();
      const response = await this.#fetch('GET', path, undefined, silence.signal);
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      for (let left = ''; ;) {
        listen();
        const { done, value } = await reader.read();
        if (done) return;
        const lines = (left + value).split('\n');
        left = lines.pop()!;
        yield* lines;
      }
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  async #request<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await this.#fetch(method, `/api${path}`, body === undefined ? undefined : JSON.stringify(body));
    return response.status === 204 ? (undefined as Answer) : response.json();
  }

  async #fetch(
    method: string,
    path: string,
    body?: BodyInit,
    signal = AbortSignal.timeout(ANSWER_MILLISECONDS),
  ): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(path, {
        method,
        cache: 'no-store',
        headers: { Authorization: `Bearer ${this.token}` },
        signal,
        body,
      });
    } catch {
      throw new ApiError(0, 'The coordinator does not answer');
    }
    if (!response.ok) {
      const problem: { error?: string } = await response.json().catch(() => ({}));
      throw new ApiError(response.status, problem.error ?? `The coordinator returned status ${response.status}`);
    }
    return response;
  }
}
