// SPDX-License-Identifier: MIT
// An author's page: makes a project of tiles and passes each result to the picture.
import { batch, computed, signal } from '@preact/signals';
import source from '../../samples/mandelbrot.js?raw';
import type { Api, Result } from '../console/api';
import { logIn, storedToken } from '../console/authentication';
import { plural } from '../logic/format';
import { INPUTS } from '../logic/mandelbrot';

const POLL_MILLISECONDS = 2000;

export class Author {
  /** Null: the user is not logged in. */
  readonly api = signal<Api | null>(null);
  readonly busy = signal(false);
  readonly refusal = signal('');
  readonly problem = signal('');
  readonly computing = signal(false);
  /** Tiles that have arrived, and tiles that no node could compute. */
  readonly done = signal(0);
  readonly failed = signal(0);
  /** The reason why no tile can finish now. Empty: tiles can finish. */
  readonly waits = signal('');
  readonly status = computed(() => {
    if (this.computing.value && this.waits.value) return `Waiting for another node: ${this.waits.value}`;
    if (this.computing.value)
      return this.done.value ? 'Computing …' : 'Waiting for a node: open /volunteer/ in a browser, or run kaiseki join';
    if (this.done.value === INPUTS.length) return 'Complete';
    return this.failed.value
      ? `No node could compute ${plural(this.failed.value, 'tile')}: see the console's errors`
      : '';
  });

  #project: number | null = null;

  constructor() {
    if (storedToken()) void this.login(storedToken());
  }

  async login(token: string): Promise<void> {
    this.busy.value = true;
    this.refusal.value = '';
    try {
      const { api, role } = await logIn(token);
      if (role !== 'author')
        throw new Error("This page makes a task, so it needs the author's token: the viewer's only reads");
      this.api.value = api;
    } catch (error) {
      this.refusal.value = (error as Error).message;
    } finally {
      this.busy.value = false;
    }
  }

  /** `show` gets a tile's number and its bytes. */
  async compute(show: (tile: number, bytes: Uint8Array) => void): Promise<void> {
    const api = this.api.value!;
    batch(() => {
      this.done.value = this.failed.value = 0;
      this.problem.value = this.waits.value = '';
      this.computing.value = true;
    });
    let polls: ReturnType<typeof setInterval> | undefined;
    try {
      const { task, first } = await this.#makeTask(api);
      polls = setInterval(() => void this.#readWaits(api, task, this.#project!), POLL_MILLISECONDS);
      for await (const result of api.results(task)) {
        if (result.dead) {
          ++this.failed.value;
          continue;
        }
        show(result.ticket - first, bytesOf(result));
        ++this.done.value;
      }
      if (this.done.value + this.failed.value < INPUTS.length)
        throw new Error('The task was cancelled, or its results expired');
    } catch (error) {
      this.problem.value = (error as Error).message;
    } finally {
      clearInterval(polls);
      this.computing.value = false;
    }
  }

  async #readWaits(api: Api, task: number, project: number): Promise<void> {
    const waits = await api.task(task).then(
      ({ waits }) => waits,
      () => '', // the stream of results reports the coordinator's errors
    );
    if (this.computing.value && this.#project === project) this.waits.value = waits;
  }

  /** Makes a project for the picture and removes the previous picture's project. */
  async #makeTask(api: Api): Promise<{ task: number; first: number }> {
    const last = this.#project;
    this.#project = (await api.addProject('Mandelbrot')).project;
    if (last !== null) await api.removeProject(last).catch(() => {}); // it may be deleted already
    const module = await api.putBlob(new TextEncoder().encode(source));
    const { task } = await api.addTask(this.#project, {
      name: 'tiles of the picture',
      function: 'sample.mandelbrot',
      module,
    });
    return {
      task,
      ...(await api.addTickets(
        task,
        INPUTS.map((input) => JSON.stringify(input)),
      )),
    };
  }
}

const bytesOf = ({ result, result_base64: coded }: Result): Uint8Array =>
  coded === undefined ? new TextEncoder().encode(result) : Uint8Array.from(atob(coded), (c) => c.charCodeAt(0));
