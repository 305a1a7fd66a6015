// SPDX-License-Identifier: MIT
// Keeps two copies of a training. The last good one is for a training that diverges. The stored one is for the next
// visit.
import type { Network, Optimizer } from 'kaiseki';
import type { Origin } from './dataset';
import type { SavedHistory } from './history';

export interface SavedTraining {
  json: string;
  /** Null: the data were files, and the user selects them again. */
  origin: Origin | null;
  dataName: string;
  optimizer: string;
  learningRate: number;
  batchSize: number;
  epochs: number;
  /** In the format safetensors. */
  weights: Uint8Array;
  /** The optimizer's state, such as its velocities. Null: the optimizer starts from zero. */
  optimizerState: Uint8Array | null;
  history: SavedHistory;
  /** Milliseconds since 1970. */
  savedAt: number;
}

/** The data of a training. */
export type DataNames = Pick<SavedTraining, 'origin' | 'dataName'>;

/** Tells the user what to do if the data could not be loaded again. */
export const missingText = ({ origin, dataName }: DataNames): string =>
  origin
    ? `${dataName} could not be loaded again. Load the data again, or select other data, before you resume.`
    : `Select the files of ${dataName} again before you resume.`;

/** Holds at most one training. Its functions reject if the browser does not store. */
export interface Store {
  read(): Promise<SavedTraining | undefined>;
  write(training: SavedTraining): Promise<void>;
  clear(): Promise<void>;
}

/** The part of a training that the session knows. The keeper adds the weights and the optimizer's state. */
type Settings = Omit<SavedTraining, 'weights' | 'optimizerState' | 'savedAt'>;

/** Networks with more values are not copied, because each copy takes memory and time. */
const MAX_VALUES = 2 ** 24;
const MILLISECONDS = 3000;
/** Copies take at most this share of the time. */
const SHARE = 0.05;

export class Keeper {
  /** The newest copy that a later step has confirmed. */
  good: SavedTraining | null = null;
  /** Whether every step so far is stored, or will be within seconds. */
  storing = true;

  #candidate: SavedTraining | null = null;
  #first = NaN;
  #lowest = Infinity;
  #mean = NaN;
  #copying = false;
  #lastCopy = 0;
  #pause = MILLISECONDS;
  #written = Promise.resolve();
  /** The number of actions of the store that have not ended. */
  #pending = 0;
  /** Changes when the training is forgotten. Copies of earlier ones are discarded. */
  #epoch = 0;

  constructor(
    private readonly store: Store,
    private readonly network: () => Network | null,
    private readonly optimizer: () => Optimizer | null,
    private readonly settings: () => Settings,
  ) {}

  /** Reads the training of an earlier visit. If the browser does not store, later steps will not be stored either. */
  stored(): Promise<SavedTraining | undefined> {
    return this.store.read().catch(() => void (this.storing = false));
  }

  /** Copies the weights before the first step of a run. */
  async begin(): Promise<void> {
    this.#candidate = null;
    this.#first = this.#mean = NaN;
    this.#lowest = Infinity;
    this.good = (await this.#copy()) ?? null;
  }

  /**
   * A step with a finite loss: confirms or discards the copy before it, and stores it. Makes no other copy while the
   * store still writes one of an earlier step. Otherwise copies fill the memory if storage is slow.
   */
  step(loss: number): void {
    if (Number.isNaN(this.#first)) this.#first = this.#mean = loss;
    this.#mean += 0.2 * (loss - this.#mean);
    this.#lowest = Math.min(this.#lowest, this.#mean);
    const candidate = this.#candidate,
      due = !this.#pending && performance.now() - this.#lastCopy >= this.#pause;
    this.#candidate = null;
    if (candidate && this.#mean <= Math.max(2 * this.#lowest, this.#first / 2)) this.good = candidate;
    if (candidate) this.#write(candidate);
    if (due && !this.#copying) void this.#copy().then((copy) => (this.#candidate = copy ?? null));
  }

  /** Stores the training now, because no step follows soon. */
  async keep(): Promise<void> {
    await this.#written;
    const copy = await this.#copy();
    if (copy?.history.step) this.#write(copy);
    await this.#written;
  }

  /** Deletes all copies. */
  forget(): void {
    ++this.#epoch;
    this.good = this.#candidate = null;
    this.#then(() => this.store.clear());
  }

  async #copy(): Promise<SavedTraining | undefined> {
    const network = this.network(),
      epoch = this.#epoch;
    if (!network) return;
    if (network.layers.reduce((sum, { parameters }) => sum + parameters, 0) > MAX_VALUES) {
      this.storing = false;
      return;
    }
    const start = performance.now();
    this.#copying = true;
    try {
      const [weights, state] = await Promise.all([
        network.saveWeights('safetensors'),
        this.optimizer()?.saveState(network),
      ]);
      if (epoch !== this.#epoch || network !== this.network()) return;
      return { ...this.settings(), weights, optimizerState: state ?? null, savedAt: Date.now() };
    } catch {
      return; // the step that follows reports the cause
    } finally {
      this.#copying = false;
      this.#lastCopy = performance.now();
      this.#pause = Math.max(MILLISECONDS, (this.#lastCopy - start) / SHARE);
    }
  }

  #write(copy: SavedTraining): void {
    const epoch = this.#epoch;
    this.#then(async () => {
      if (epoch === this.#epoch) await this.store.write(copy);
    });
  }

  #then(action: () => Promise<void>): void {
    ++this.#pending;
    const ended = (stored: boolean) => {
      --this.#pending;
      this.storing = stored;
    };
    this.#written = this.#written.then(action).then(
      () => ended(true),
      () => ended(false),
    );
  }
}
