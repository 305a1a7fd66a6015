// SPDX-License-Identifier: MIT
// Tickets a second of the pool and of each task. The coordinator's counter of ended tickets only grows. A task's count
// shrinks when its author deletes tickets, as training does after each step.
import { trainingFunction } from '../../pool/training.js';
import { Rate } from '../logic/rate';
import type { Task } from './api';

type Counted = Pick<Task, 'task' | 'function' | 'done' | 'dead'>;

const SECONDS = 10;

class Meter {
  sum = 0;
  readonly #rate = new Rate(SECONDS);

  constructor(public last: number) {}

  add(at: number, increase: number): number {
    this.sum += increase;
    return this.#rate.add(at, this.sum);
  }
}

export class Throughput {
  #total: Meter | null = null;
  #tasks = new Map<number, Meter>();
  /** Tasks that delete tickets. */
  #shrinking = new Set<number>();

  /**
   * Returns the tickets a second in total and by task. `ended` is the coordinator's counter. A task that deletes tickets
   * gets the rest of the total. If several tasks delete tickets, they have no rate.
   */
  add(at: number, ended: number, tasks: readonly Counted[]): { total: number; byTask: Record<number, number> } {
    const first = this.#total === null;
    const total = (this.#total ??= new Meter(ended));
    const all = ended < total.last ? ended : ended - total.last; // a coordinator that restarts counts from 0
    total.last = ended;

    const byTask: Record<number, number> = {};
    const known = this.#tasks;
    this.#tasks = new Map();
    let steady = 0;
    for (const { task, function: code, done, dead } of tasks) {
      const meter = known.get(task) ?? new Meter(first ? done + dead : 0);
      const increase = done + dead - meter.last;
      meter.last = done + dead;
      this.#tasks.set(task, meter);
      if (increase < 0 || code === trainingFunction) this.#shrinking.add(task);
      if (this.#shrinking.has(task)) continue;
      steady += increase;
      byTask[task] = meter.add(at, increase);
    }
    const shrinking = [...this.#tasks].filter(([task]) => this.#shrinking.has(task));
    if (shrinking.length === 1) byTask[shrinking[0][0]] = shrinking[0][1].add(at, Math.max(0, all - steady));
    return { total: total.add(at, all), byTask };
  }
}
