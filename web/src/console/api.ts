// SPDX-License-Identifier: MIT
// The coordinator's API (docs/openapi.yaml) with the token of who logged in.
import { again } from '../logic/again';

export interface Project {
  project: number;
  name: string;
  weight: number;
  /** Whether there is a curve of it. */
  trains: boolean;
}
export interface Point {
  step: number;
  loss?: number;
  accuracy?: number;
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
  /** Why no ticket can end as things are; empty: nothing keeps them. */
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
  /** Why it was; empty: it was not. */
  expelled: string;
  /** Why it is not here, where the coordinator knows. */
  reason?: string;
}
export interface TicketError {
  ticket: number;
  node: string;
  time: number;
  error: string;
}
export type Role = 'author' | 'viewer';
/** What became of a ticket: `dead`, or bytes as text or in Base64. */
export interface Result {
  sequence: number;
  ticket: number;
  dead?: boolean;
  result?: string;
  result_base64?: string;
}

/** `status` 0: no answer. */
export class ApiError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

const ANSWER_MILLISECONDS = 10000;  // at most
const AGAIN_MILLISECONDS = 1000;
const SILENCE_MILLISECONDS = 60_000;  // of results; the coordinator says something every few seconds

export class Api {
  constructor(private readonly token: string) {}

  role = async (): Promise<Role> => (await this.#ask<{ role: Role }>('GET', '/role')).role;
  projects = () => this.#ask<Project[]>('GET', '/projects');
  curve = (project: number) => this.#ask<Point[]>('GET', `/projects/${project}/curve`);
  tasks = () => this.#ask<Task[]>('GET', '/tasks');
  nodes = () => this.#ask<PoolNode[]>('GET', '/nodes');
  errors = (task: number) => this.#ask<TicketError[]>('GET', `/tasks/${task}/errors`);
  change = (task: number, what: { state?: Task['state']; priority?: number }) => this.#ask('PATCH', `/tasks/${task}`, what);
  expel = (node: string) => this.#ask('DELETE', `/nodes/${encodeURIComponent(node)}`);

  addProject = (name: string) => this.#ask<{ project: number }>('POST', '/projects', { name });
  removeProject = (project: number) => this.#ask('DELETE', `/projects/${project}`);
  addTask = (project: number, what: { name: string; function: string; module: string }) =>
    this.#ask<{ task: number }>('POST', `/projects/${project}/tasks`, what);
  addTickets = (task: number, inputs: string[]) =>
    this.#ask<{ first: number }>('POST', `/tasks/${task}/tickets`, { tickets: inputs.map((input) => ({ input })) });

  /** Its hash. */
  async putBlob(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
    await this.#fetch('PUT', `/blobs/${hash}`, bytes);
    return hash;
  }

  /** Of each ticket that ended, as soon as it has, until none is open; through a coordinator that is gone for a while too. */
  async *results(task: number): AsyncGenerator<Result> {
    for (let after = 0, failures = 0;;) {
      try {
        for await (const line of this.#lines(`/api/tasks/${task}/results?follow=1&after=${after}`)) {
          if (!line) continue;  // a sign of life
          const result: Result = JSON.parse(line);
          after = result.sequence;
          failures = 0;
          yield result;
        }
        return;
      } catch (error) {
        if ((error as ApiError).status > 0) throw error;
        await new Promise((resolve) => setTimeout(resolve, again(AGAIN_MILLISECONDS, failures++)));
      }
    }
  }

  /** Rejects when nothing comes for a while. */
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
      for (let left = '';;) {
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

  async #ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await this.#fetch(method, `/api${path}`, body === undefined ? undefined : JSON.stringify(body));
    return response.status === 204 ? undefined as Answer : response.json();
  }

  async #fetch(method: string, path: string, body?: BodyInit, signal = AbortSignal.timeout(ANSWER_MILLISECONDS)): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(path, { method, cache: 'no-store', headers: { Authorization: `Bearer ${this.token}` }, signal, body });
    } catch {
      throw new ApiError(0, 'The coordinator does not answer');
    }
    if (!response.ok) {
      const problem: { error?: string } = await response.json().catch(() => ({}));
      throw new ApiError(response.status, problem.error ?? `The coordinator answers with status ${response.status}`);
    }
    return response;
  }
}
