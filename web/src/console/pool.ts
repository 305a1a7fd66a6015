// SPDX-License-Identifier: MIT
// The pool's state in the console. Polls the coordinator every two seconds while the page is visible, and computes
// rates.
import { batch, effect, signal } from '@preact/signals';
import { backoffDelay } from '../logic/backoff';
import { Rate } from '../logic/rate';
import { unlessGone, type Api, type ApiError, type History, type Point, type PoolNode, type Project } from './api';
import type { Role, Task, TicketError } from './api';
import { logIn, storeToken, storedToken } from './authentication';
import { Throughput } from './throughput';
import { View } from './view';

export interface FailedTicket extends TicketError {
  task: number;
  taskName: string;
}

const MILLISECONDS = 2000;
const NO_HISTORY: History = { time: [], rate: [], nodes: [] };
/** The console loads the errors of only this many tasks. */
export const MAX_TASKS = 20;

/** The tasks with errors to load: those with dead tickets first, then the newest. */
export function tasksWithErrors(tasks: readonly Task[]): Task[] {
  const newest = [...tasks].reverse();
  return [...newest.filter(({ dead }) => dead > 0), ...newest.filter(({ dead }) => !dead)].slice(0, MAX_TASKS);
}

export class Pool {
  /** Null: the user is not logged in. */
  readonly role = signal<Role | null>(null);
  readonly busy = signal(false);
  readonly refusal = signal('');
  readonly problem = signal('');
  /** The reason why the last action failed. The next action clears it. */
  readonly failure = signal('');
  readonly projects = signal<Project[]>([]);
  readonly tasks = signal<Task[]>([]);
  readonly nodes = signal<PoolNode[]>([]);
  /** By project, for the projects that the page shows. */
  readonly curves = signal<Record<number, Point[]>>({});
  /** Steps a second of these projects. */
  readonly paces = signal<Record<number, number>>({});
  readonly errors = signal<FailedTicket[]>([]);
  /** Tickets a second, in total and by task. A task without an entry has no rate. */
  readonly rate = signal(0);
  readonly rates = signal<Record<number, number>>({});
  readonly now = signal(Date.now() / 1000);
  readonly version = signal(0);
  /** Of the selected time, while the page shows it. */
  readonly history = signal<History>(NO_HISTORY);
  readonly view = new View(this);

  #api: Api | null = null;
  #meter = new Throughput();
  #steps = new Map<number, Rate>();
  #failures = 0;
  /** Counts the refreshes: only the newest one changes the page. */
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    if (storedToken()) void this.login(storedToken());
    document.addEventListener('visibilitychange', () => void this.refresh());
    effect(() => {
      // Only the data of the visible view are loaded.
      void [this.view.tab.value, this.view.shownIds.value, this.view.timeRange.value];
      if (this.role.peek()) void this.refresh();
    });
  }

  async login(token: string): Promise<void> {
    this.busy.value = true;
    this.refusal.value = '';
    try {
      const { api, role } = await logIn(token);
      this.#api = api;
      await this.refresh();
      if (api === this.#api) this.role.value = role;
    } catch (error) {
      this.refusal.value = (error as Error).message;
    } finally {
      this.busy.value = false;
    }
  }

  logout(): void {
    clearTimeout(this.#timer);
    storeToken('');
    this.#api = null;
    this.#meter = new Throughput();
    this.#steps.clear();
    this.#failures = 0;
    batch(() => {
      this.role.value = null;
      this.refusal.value = this.problem.value = this.failure.value = '';
      this.projects.value = [];
      this.tasks.value = [];
      this.nodes.value = [];
      this.curves.value = {};
      this.paces.value = {};
      this.history.value = NO_HISTORY;
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
      if (api === this.#api) await this.refresh();
    } catch (error) {
      if (api === this.#api) this.failure.value = (error as Error).message;
    }
  }

  async refresh(): Promise<void> {
    clearTimeout(this.#timer);
    const api = this.#api;
    if (!api || document.hidden) return;
    const turn = ++this.#turn;
    const isCurrent = () => api === this.#api && turn === this.#turn;
    try {
      const [projects, tasks, nodes, ended] = await Promise.all([
        api.projects(),
        api.tasks(),
        api.nodes(),
        api.ended(),
      ]);
      if (!isCurrent()) return;
      this.#failures = 0;
      this.#install(projects, tasks, nodes, ended);
      // A task or a project may have been deleted since it was listed.
      const plots = this.view.tab.value === 'overview';
      const history = plots ? await api.history(Number(this.view.timeRange.value)) : NO_HISTORY;
      const failing = this.view.tab.value === 'errors' ? tasksWithErrors(tasks) : [];
      const errors = await Promise.all(failing.map(({ task }) => unlessGone(api.errors(task))));
      const training = this.view.shownProjects.value.filter(({ trains }) => trains);
      const curves = await Promise.all(training.map(({ project }) => unlessGone(api.curve(project))));
      if (!isCurrent()) return;
      const failed = failing.flatMap(({ task, name }, i) =>
        errors[i].map((error) => ({ ...error, task, taskName: name || `task ${task}` })),
      );
      this.#installDetails(history, Object.fromEntries(training.map(({ project }, i) => [project, curves[i]])), failed);
    } catch (error) {
      if (!isCurrent()) return;
      if ((error as ApiError).status === 401) return this.logout();
      this.problem.value = `${(error as Error).message}; the page shows older data`;
      ++this.#failures;
    }
    clearTimeout(this.#timer);
    if (isCurrent()) this.#timer = setTimeout(() => void this.refresh(), backoffDelay(MILLISECONDS, this.#failures));
  }

  #install(projects: Project[], tasks: Task[], nodes: PoolNode[], ended: number): void {
    const now = Date.now() / 1000;
    const { total, byTask } = this.#meter.add(now, ended, tasks);
    batch(() => {
      this.now.value = now;
      this.problem.value = '';
      this.projects.value = projects;
      this.tasks.value = tasks;
      this.nodes.value = nodes;
      this.rate.value = total;
      this.rates.value = byTask;
      ++this.version.value;
    });
  }

  #installDetails(history: History, curves: Record<number, Point[]>, errors: FailedTicket[]): void {
    const paces: Record<number, number> = {};
    for (const project of Object.keys(curves).map(Number)) {
      if (!this.#steps.has(project)) this.#steps.set(project, new Rate());
      paces[project] = this.#steps.get(project)!.add(this.now.value, curves[project].at(-1)?.step ?? 0);
    }
    batch(() => {
      this.history.value = history;
      this.curves.value = curves;
      this.paces.value = paces;
      this.errors.value = errors.sort((a, b) => b.time - a.time);
      ++this.version.value;
    });
  }
}
