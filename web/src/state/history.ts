// SPDX-License-Identifier: MIT
// The progress of training: curves and current figures. The page is updated at most a few times a second.
import { batch, computed, signal } from '@preact/signals';
import type { Evaluation, Progress } from 'kaiseki';
import { Series, type SavedSeries } from '../logic/series';

const MILLISECONDS = 120;

/** A copy of the progress, which can be stored. */
export interface SavedHistory {
  step: number;
  /** With the part of the last one. */
  epochs: number;
  seconds: number;
  loss: number;
  test: Evaluation | null;
  losses: SavedSeries;
  accuracies: SavedSeries;
  tests: SavedSeries;
}

export class History {
  /** Changes with every update, so that curves are drawn again. */
  readonly version = signal(0);
  readonly step = signal(0);
  /** The number of epochs, with the part of the last one. */
  readonly epochs = signal(0);
  /** The number of complete epochs. Sums of fractions are not exact. */
  readonly epoch = computed(() => Math.floor(this.epochs.value + 1e-6));
  readonly loss = signal(NaN);
  readonly imagesPerSecond = signal(NaN);
  readonly seconds = signal(0);
  readonly test = signal<Evaluation | null>(null);

  losses = new Series();
  accuracies = new Series();
  tests = new Series();
  /** Called after the page was updated with more steps. */
  readonly listeners: (() => void)[] = [];

  #last: Progress | null = null;
  #base = { step: 0, epochs: 0 };
  #samplesOfEpoch = 1;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #since = 0;
  #lastFlush = 0;

  add(progress: Progress): void {
    const step = this.#base.step + progress.step;
    this.losses.push(step, progress.loss);
    this.accuracies.push(step, progress.accuracy);
    this.#last = progress;
    const since = performance.now() - this.#lastFlush;
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

  /** Starts a training. Its steps count from 0, so this history adds the steps before it. */
  begin(samplesOfEpoch: number): void {
    this.#flush();
    this.#base = { step: this.step.value, epochs: this.epochs.value };
    this.#samplesOfEpoch = samplesOfEpoch;
  }

  /** Starts or stops the clock. */
  run(running: boolean): void {
    this.#flush();
    this.#since = running ? performance.now() : 0;
  }

  clear(): void {
    this.restore({
      step: 0,
      epochs: 0,
      seconds: 0,
      loss: NaN,
      test: null,
      losses: new Series().save(),
      accuracies: new Series().save(),
      tests: new Series().save(),
    });
  }

  save(): SavedHistory {
    this.#flush();
    return {
      step: this.step.value,
      epochs: this.epochs.value,
      seconds: this.seconds.value,
      loss: this.loss.value,
      test: this.test.value,
      losses: this.losses.save(),
      accuracies: this.accuracies.save(),
      tests: this.tests.save(),
    };
  }

  restore(saved: SavedHistory): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#last = null;
    this.#base = { step: saved.step, epochs: saved.epochs };
    this.losses = Series.from(saved.losses);
    this.accuracies = Series.from(saved.accuracies);
    this.tests = Series.from(saved.tests);
    batch(() => {
      this.step.value = saved.step;
      this.epochs.value = saved.epochs;
      this.seconds.value = saved.seconds;
      this.loss.value = saved.loss;
      this.imagesPerSecond.value = NaN;
      this.test.value = saved.test;
      this.version.value++;
    });
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const last = this.#last,
      now = performance.now();
    this.#last = null;
    this.#lastFlush = now;
    batch(() => {
      if (this.#since) {
        this.seconds.value += (now - this.#since) / 1000;
        this.#since = now;
      }
      if (!last) return;
      this.step.value = this.#base.step + last.step;
      this.epochs.value = this.#base.epochs + last.samples / this.#samplesOfEpoch;
      this.loss.value = this.losses.y.at(-1) ?? last.loss;
      this.imagesPerSecond.value = last.imagesPerSecond;
      this.version.value++;
    });
    if (last) for (const listener of this.listeners) listener();
  }
}
