// SPDX-License-Identifier: MIT
// Runs the actions of the page one after another, and shows their status and their errors.
import { signal } from '@preact/signals';
import { CANCELLED, FAILED, type Place } from './failed';

export type Phase = 'loading' | 'ready' | 'running' | 'paused' | 'broken';

export class Actions {
  readonly phase = signal<Phase>('loading');
  readonly busy = signal('');
  readonly problems = signal<Partial<Record<Place, string>>>({});
  readonly notice = signal('');
  /** The rate with which a training that diverged may continue. */
  readonly lowerRate = signal<number | null>(null);

  #queue = Promise.resolve();

  protected enqueue(place: Place, what: string, body: () => Promise<void>): Promise<void> {
    this.#queue = this.#queue.then(async () => {
      this.showProblem(place, '');
      this.busy.value = what;
      try {
        await body();
      } catch (error) {
        if (error === CANCELLED) this.notice.value = CANCELLED.message;
        else {
          this.notice.value = FAILED[place];
          this.showProblem(place, error);
        }
        if (this.phase.value === 'loading') this.phase.value = 'broken';
      } finally {
        this.busy.value = '';
      }
    });
    return this.#queue;
  }

  showProblem(place: Place, problem: unknown): void {
    if (place === 'training') this.lowerRate.value = null;
    this.problems.value = {
      ...this.problems.value,
      [place]: problem instanceof Error ? problem.message : String(problem),
    };
  }
}
