// SPDX-License-Identifier: MIT
// A session with a fake library, for tests of events that a browser cannot produce on demand.
import { effect } from '@preact/signals';
import type { Data, FetchOptions, Kaiseki, Progress, TrainOptions } from 'kaiseki';
import { beforeEach, vi } from 'vitest';
import { Session } from '../src/state/session';

vi.mock('kaiseki', () => ({ load: () => undefined }));

export const eventually = (check: () => void) => vi.waitFor(check, { timeout: 60_000 });

const tensor = (shape: number[]) => {
  const made = {
    shape,
    dtype: 'f32',
    disposed: false,
    dispose: () => {
      made.disposed = true;
      live.delete(made);
    },
    slice: async (_: number, __: number, length: number) => tensor([length, ...shape.slice(1)]),
    toTypedArray: async () => new Float32Array(shape.reduce((a, b) => a * b, 1)),
  };
  live.add(made);
  return made;
};
export const live = new Set<{ dispose(): void }>();

export class Library {
  die!: (error: Error) => void;
  closed = new Promise((resolve) => (this.die = resolve));
  trainings: {
    options: TrainOptions;
    data: Data;
    fail(error: Error): void;
    finish(): void;
    pause(): Promise<void>;
    paused: boolean;
    learningRate?: number;
  }[] = [];
  closedByPage = false;
  tests = 0;
  /** The number of times that weights were drawn. */
  drawn = 0;
  weights = new Uint8Array([0]);
  constructor(readonly threads: number) {}

  close() {
    this.closedByPage = true;
  }
  tensor = async (_: unknown, shape: number[]) => {
    if (--fake.room < 0) throw new Error('[memory] expected room');
    return tensor(shape);
  };
  normalize = async ({ shape }: { shape: number[] }) => tensor(shape);
  tidy = async (body: (scope: Library) => Promise<object[]>) => {
    const before = new Set(live);
    let kept: object[] = [];
    try {
      return (kept = await body(this));
    } finally {
      for (const made of live) if (!before.has(made) && !kept.includes(made)) made.dispose();
    }
  };
  optimizers: unknown[] = [];
  optimizer = async (...args: unknown[]) => {
    this.optimizers.push(args);
    return { dispose() {}, saveState: async () => new Uint8Array(), loadState: async () => {} };
  };
  digits = async ({ count, train }: { count: number; train: boolean }) => {
    const n = train ? count : count / 5;
    return { images: tensor([n, 1, 28, 28]), labels: tensor([n]) };
  };
  mnist = async (_: { images: File; labels: File }, { signal }: FetchOptions) => {
    signal?.throwIfAborted();
    if (fake.stalled) await new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)));
    if (fake.gone || --fake.readable < 0) throw new Error('[data] expected the file, got none');
    return { images: tensor([fake.pictures, 1, 28, 28]), labels: tensor([fake.pictures]) };
  };
  network = async (json: string) => {
    const inputShape = json === 'small' ? [1, 8, 8] : [1, 28, 28];
    fake.builds?.();
    if (json === 'bad') throw new Error('network: line 1: expected a value');
    return {
      json: json.startsWith('{') ? JSON.parse(json) : {},
      layers: [
        {
          name: 'large',
          type: 'max_pooling',
          shape: [1, 4000, 4000],
          parameters: 0,
          multiplyAdds: 0,
          operations: fake.work,
        },
        { name: 'a', type: 'relu', shape: [10], parameters: 0, multiplyAdds: 0, operations: 10 },
      ],
      hasWeights: json === 'learnt',
      inputShape,
      outputShape: [10],
      disposed: false,
      dispose() {
        this.disposed = true;
      },
      initialize: async () => {
        ++this.drawn;
      },
      saveWeights: async () => this.weights,
      loadWeights: async (weights: Uint8Array<ArrayBuffer>) => {
        this.weights = weights;
      },
      predict: async () => tensor([1, 10]),
      activations: async () => [tensor([1, 10])],
      parameters: async () => [],
      evaluate: async () => {
        const accuracy = ++this.tests / 10;
        await fake.held;
        return { loss: 1, accuracy, confusion: new Int32Array(100) };
      },
    };
  };
  train = (_: unknown, __: unknown, data: Data, options: TrainOptions) => {
    let fail!: (error: Error) => void, finish!: () => void;
    const finished = new Promise<void>((resolve, reject) => ([finish, fail] = [resolve, reject]));
    const training = {
      options,
      data,
      finished,
      fail,
      finish,
      paused: false,
      pause: async () => {
        training.paused = true;
      },
      resume: () => {
        training.paused = false;
      },
    };
    this.trainings.push(training);
    return training;
  };
}

/** Values that a test sets, and objects that the page made. */
export const fake = {
  /** Whether the data set's files are gone, whether they never arrive, and whether the library cannot be loaded. */
  gone: false,
  stalled: false,
  offline: false,
  /** Called when a network is made. */
  builds: undefined as (() => void) | undefined,
  /** The number of pairs of files that can be read, and of tensors that fit into memory. */
  readable: Infinity,
  room: Infinity,
  /** The number of pictures in each file of the data set. */
  pictures: 100,
  /** The networks' multiply-adds. */
  work: 0,
  /** Evaluations wait for this promise. */
  held: undefined as Promise<void> | undefined,
  libraries: [] as Library[],
};
export let session: Session;
beforeEach(async () => {
  Object.assign(fake, { gone: false, stalled: false, offline: false, builds: undefined, readable: Infinity });
  Object.assign(fake, { room: Infinity, pictures: 100, work: 0, held: undefined, libraries: [] });
  live.clear();
  session = new Session(async (options) => {
    if (fake.offline) throw new Error('[load] expected the module, got none');
    fake.libraries.push(new Library(options?.threads ?? 2));
    return fake.libraries.at(-1) as unknown as Kaiseki;
  });
  effect(() => session.question.value?.answer(true));
  await session.open();
});

export const step = (number: number): Progress => ({
  step: number,
  epoch: 0,
  samples: 50 * number,
  loss: 1 / number,
  accuracy: 0.5,
  imagesPerSecond: 100,
  learningRate: 0.01,
  batchSize: 50,
});
