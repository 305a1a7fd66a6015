// SPDX-License-Identifier: MIT
// The coordinator's API (docs/openapi.yaml) with the token of who logged in.

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
  expelled: string;
}
export interface TicketError {
  ticket: number;
  node: string;
  time: number;
  error: string;
}
export type Role = 'author' | 'viewer';

/** `status` 0: no answer. */
export class ApiError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

const ANSWER_MILLISECONDS = 10000;  // at most

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

  async #ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    let response: Response;
    try {
      response = await fetch(`/api${path}`, {
        method, cache: 'no-store', headers: { Authorization: `Bearer ${this.token}` }, signal: AbortSignal.timeout(ANSWER_MILLISECONDS),
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    } catch {
      throw new ApiError(0, 'The coordinator does not answer');
    }
    if (!response.ok) {
      const problem: { error?: string } = await response.json().catch(() => ({}));
      throw new ApiError(response.status, problem.error ?? `The coordinator answers with status ${response.status}`);
    }
    return response.json();
  }
}
