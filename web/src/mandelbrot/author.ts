// SPDX-License-Identifier: MIT
// An author of the pool: makes a project of tiles, and hands each to who shows it when a node has computed it.
import { batch, signal } from '@preact/signals';
import source from '../../samples/mandelbrot.js?raw';
import type { Api, Result } from '../console/api';
import { enter, keptToken } from '../console/entrance';
import { INPUTS } from '../logic/mandelbrot';

export class Author {
  /** Null: nobody is logged in. */
  readonly api = signal<Api | null>(null);
  readonly busy = signal(false);
  readonly refusal = signal('');
  readonly problem = signal('');
  readonly computing = signal(false);
  /** Tiles that are there, and such that no node could compute. */
  readonly done = signal(0);
  readonly failed = signal(0);

  #project: number | null = null;

  constructor() {
    if (keptToken()) void this.login(keptToken());
  }

  async login(token: string): Promise<void> {
    this.busy.value = true;
    this.refusal.value = '';
    try {
      const { api, role } = await enter(token);
      if (role !== 'author') throw new Error('A viewer only reads: this page makes a task, which wants the author\'s token');
      this.api.value = api;
    } catch (error) {
      this.refusal.value = (error as Error).message;
    } finally {
      this.busy.value = false;
    }
  }

  /** `show` gets the number of a tile and its bytes. */
  async compute(show: (tile: number, bytes: Uint8Array) => void): Promise<void> {
    const api = this.api.value!;
    batch(() => {
      this.done.value = this.failed.value = 0;
      this.problem.value = '';
      this.computing.value = true;
    });
    try {
      const { task, first } = await this.#ask(api);
      for await (const result of api.results(task)) {
        if (result.dead) {
          ++this.failed.value;
          continue;
        }
        show(result.ticket - first, bytesOf(result));
        ++this.done.value;
      }
      if (this.done.value + this.failed.value < INPUTS.length) throw new Error('The task was cancelled, or its tickets were forgotten');
    } catch (error) {
      this.problem.value = (error as Error).message;
    } finally {
      this.computing.value = false;
    }
  }

  /** The last picture's project goes when there is another one. */
  async #ask(api: Api): Promise<{ task: number; first: number }> {
    const last = this.#project;
    this.#project = (await api.addProject('Mandelbrot')).project;
    if (last !== null) await api.removeProject(last).catch(() => {});  // it may be gone
    const module = await api.putBlob(new TextEncoder().encode(source));
    const { task } = await api.addTask(this.#project, { name: 'tiles of the picture', function: 'sample.mandelbrot', module });
    return { task, ...await api.addTickets(task, INPUTS.map((input) => JSON.stringify(input))) };
  }
}

const bytesOf = ({ result, result_base64: coded }: Result): Uint8Array =>
  coded === undefined ? new TextEncoder().encode(result) : Uint8Array.from(atob(coded), (c) => c.charCodeAt(0));
