// SPDX-License-Identifier: MIT
// What training has told so far: curves, and the numbers of the moment. The page is told a few times a second at most.
import { batch, signal } from '@preact/signals';
import type { Evaluation, Progress } from 'kaiseki';
import { Series } from '../logic/series';

const MILLISECONDS = 120;

export class History {
  /** Counts what was told, for what is drawn from the curves. */
  readonly version = signal(0);
  readonly step = signal(0);
  readonly epoch = signal(0);
  readonly loss = signal(NaN);
  readonly imagesPerSecond = signal(NaN);
  readonly seconds = signal(0);
  readonly test = signal<Evaluation | null>(null);

  losses = new Series();
  accuracies = new Series();
  tests = new Series();
  /** Called after the page was told of more steps. */
  onProgress: () => void = () => {};

  #last: Progress | null = null;
  #base = { step: 0, epoch: 0 };
  #timer: ReturnType<typeof setTimeout> | undefined;
  #since = 0;
  #told = 0;

  add(progress: Progress): void {
    const step = this.#base.step + progress.step;
    this.losses.push(step, progress.loss);
    this.accuracies.push(step, progress.accuracy);
    this.#last = progress;
    const since = performance.now() - this.#told;
    if (since >= MILLISECONDS) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), MILLISECONDS - since);
  }

  evaluated(test: Evaluation): void {
    this.tests.push(this.step.value, test.accuracy);
    batch(() => {
      this.test.value = test;
      this.version.value++;
    });
  }

  /** A training begins, whose steps count from 0: they go on from here. */
  begin(): void {
    this.#flush();
    this.#base = { step: this.step.value, epoch: this.epoch.value };
  }

  /** The clock runs while training does. */
  run(running: boolean): void {
    this.#flush();
    this.#since = running ? performance.now() : 0;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#last = null;
    this.#base = { step: 0, epoch: 0 };
    this.losses = new Series();
    this.accuracies = new Series();
    this.tests = new Series();
    batch(() => {
      this.step.value = this.epoch.value = this.seconds.value = 0;
      this.loss.value = this.imagesPerSecond.value = NaN;
      this.test.value = null;
      this.version.value++;
    });
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const last = this.#last, now = performance.now();
    this.#last = null;
    this.#told = now;
    batch(() => {
      if (this.#since) {
        this.seconds.value += (now - this.#since) / 1000;
        this.#since = now;
      }
      if (!last) return;
      this.step.value = this.#base.step + last.step;
      this.epoch.value = this.#base.epoch + last.epoch;
      this.loss.value = this.losses.y.at(-1) ?? last.loss;
      this.imagesPerSecond.value = last.imagesPerSecond;
      this.version.value++;
    });
    if (last) this.onProgress();
  }
}
