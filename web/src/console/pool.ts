// SPDX-License-Identifier: MIT
// What the console knows of the pool: asked again every two seconds while somebody looks, with rates from what changed.
import { batch, signal } from '@preact/signals';
import { again } from '../logic/again';
import { Rate } from '../logic/rate';
import { Series } from '../logic/series';
import type { Api, ApiError, Point, PoolNode, Project, Role, Task, TicketError } from './api';
import { enter, keepToken, keptToken } from './entrance';

export interface FailedTicket extends TicketError {
  task: number;
  taskName: string;
}

const MILLISECONDS = 2000;
const MOST_ERRORS = 50;
/** Whose errors are asked for: the newest tasks. */
export const MOST_TASKS = 20;

export class Pool {
  /** Null: nobody is logged in. */
  readonly role = signal<Role | null>(null);
  readonly busy = signal(false);
  readonly refusal = signal('');
  readonly problem = signal('');
  /** Why the last action was not done: it stays until the next one. */
  readonly failure = signal('');
  readonly projects = signal<Project[]>([]);
  readonly tasks = signal<Task[]>([]);
  readonly nodes = signal<PoolNode[]>([]);
  /** By project. */
  readonly curves = signal<Record<number, Point[]>>({});
  readonly errors = signal<FailedTicket[]>([]);
  /** Tickets a second: of all, and by task. */
  readonly rate = signal(0);
  readonly rates = signal<Record<number, number>>({});
  readonly now = signal(Date.now() / 1000);
  readonly version = signal(0);
  throughput = new Series();
  connected = new Series();

  #api: Api | null = null;
  #paces = new Map<number, Rate>();
  #pace = new Rate(10);
  #since = 0;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    if (keptToken()) void this.login(keptToken());
    document.addEventListener('visibilitychange', () => void this.look());
  }

  async login(token: string): Promise<void> {
    this.busy.value = true;
    this.refusal.value = '';
    try {
      const { api, role } = await enter(token);
      this.#api = api;
      this.#since = Date.now() / 1000;
      await this.look();
      if (api === this.#api) this.role.value = role;
    } catch (error) {
      this.refusal.value = (error as Error).message;
    } finally {
      this.busy.value = false;
    }
  }

  logout(): void {
    clearTimeout(this.#timer);
    keepToken('');
    this.#api = null;
    this.#paces.clear();
    this.#pace.clear();
    this.throughput = new Series();
    this.connected = new Series();
    this.#failures = 0;
    batch(() => {
      this.role.value = null;
      this.refusal.value = this.problem.value = this.failure.value = '';
      this.projects.value = [];
      this.tasks.value = [];
      this.nodes.value = [];
      this.curves.value = {};
      this.errors.value = [];
      this.rate.value = 0;
      this.rates.value = {};
      ++this.version.value;
    });
  }

  change = (task: number, what: Parameters<Api['change']>[1]) => this.#act((api) => api.change(task, what));
  expel = (node: string) => this.#act((api) => api.expel(node));

  async #act(what: (api: Api) => Promise<unknown>): Promise<void> {
    const api = this.#api;
    if (!api) return;
    this.failure.value = '';
    try {
      await what(api);
      if (api === this.#api) await this.look();
    } catch (error) {
      if (api === this.#api) this.failure.value = (error as Error).message;
    }
  }

  async look(): Promise<void> {
    clearTimeout(this.#timer);
    const api = this.#api;
    if (!api || document.hidden) return;
    try {
      const [projects, tasks, nodes] = await Promise.all([api.projects(), api.tasks(), api.nodes()]);
      const asked = tasks.slice(-MOST_TASKS);
      const errors = await Promise.all(asked.map((task) => api.errors(task.task)));
      const training = projects.filter((project) => project.trains);
      const curves = await Promise.all(training.map(({ project }) => api.curve(project)));
      if (api !== this.#api) return;
      this.curves.value = Object.fromEntries(training.map(({ project }, i) => [project, curves[i]]));
      this.#failures = 0;
      this.#adopt(projects, tasks, nodes, asked.flatMap(({ task, name }, i) => errors[i].map((error) => ({ ...error, task, taskName: name }))));
    } catch (error) {
      if (api !== this.#api) return;
      if ((error as ApiError).status === 401) return this.logout();
      this.problem.value = `${(error as Error).message}; what is shown here is from before`;
      ++this.#failures;
    }
    clearTimeout(this.#timer);
    if (api === this.#api) this.#timer = setTimeout(() => void this.look(), again(MILLISECONDS, this.#failures));
  }

  #adopt(projects: Project[], tasks: Task[], nodes: PoolNode[], errors: FailedTicket[]): void {
    const now = Date.now() / 1000;
    const rates: Record<number, number> = {};
    let ended = 0;
    for (const { task, done, dead } of tasks) {
      if (!this.#paces.has(task)) this.#paces.set(task, new Rate(10));
      rates[task] = this.#paces.get(task)!.add(now, done + dead);
      ended += done + dead;
    }
    const rate = this.#pace.add(now, ended);
    this.throughput.push(now - this.#since, rate);
    this.connected.push(now - this.#since, nodes.filter((node) => node.connected).length);
    batch(() => {
      this.now.value = now;
      this.problem.value = '';
      this.projects.value = projects;
      this.tasks.value = tasks;
      this.nodes.value = nodes;
      this.errors.value = errors.sort((a, b) => b.time - a.time).slice(0, MOST_ERRORS);
      this.rate.value = rate;
      this.rates.value = rates;
      ++this.version.value;
    });
  }
}
