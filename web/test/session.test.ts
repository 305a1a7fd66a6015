// SPDX-License-Identifier: MIT
// The session against a library that keeps what it is asked: what cannot be made to happen in a browser at will.
import type { FetchOptions, Kaiseki, Progress, TrainOptions } from 'kaiseki';
import { beforeEach, expect, test, vi } from 'vitest';
import { Session } from '../src/state/session';

vi.mock('kaiseki', () => ({ load: () => undefined }));

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 60_000 });

const tensor = (shape: number[]) => {
  const made = {
    shape, dtype: 'f32', disposed: false,
    dispose: () => { made.disposed = true; live.delete(made); },
    slice: async (_: number, __: number, length: number) => tensor([length, ...shape.slice(1)]),
    toTypedArray: async () => new Float32Array(shape.reduce((a, b) => a * b, 1)),
  };
  live.add(made);
  return made;
};
const live = new Set<{ dispose(): void }>();

class Library {
  die!: (error: Error) => void;
  closed = new Promise((resolve) => (this.die = resolve));
  trainings: {
    options: TrainOptions; fail(error: Error): void; pause(): Promise<void>; paused: boolean; learningRate?: number;
  }[] = [];
  closedByPage = false;
  tests = 0;
  /** How often weights were drawn. */
  drawn = 0;
  weights = new Uint8Array([0]);
  constructor(readonly threads: number) {}

  close() { this.closedByPage = true; }
  tensor = async (_: unknown, shape: number[]) => {
    if (--room < 0) throw new Error('[memory] expected room');
    return tensor(shape);
  };
  tidy = async (body: (scope: Library) => Promise<object[]>) => {
    const before = new Set(live);
    let kept: object[] = [];
    try {
      return kept = await body(this);
    } finally {
      for (const made of live) if (!before.has(made) && !kept.includes(made)) made.dispose();
    }
  };
  optimizer = async () => ({ dispose() {} });
  digits = async ({ count, train }: { count: number; train: boolean }) => {
    const n = train ? count : count / 5;
    return { images: tensor([n, 1, 28, 28]), labels: tensor([n]) };
  };
  mnist = async (_: { images: File; labels: File }, { signal }: FetchOptions) => {
    signal?.throwIfAborted();
    if (stalled) await new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)));
    if (gone || --readable < 0) throw new Error('[data] expected the file, got none');
    return { images: tensor([pictures, 1, 28, 28]), labels: tensor([pictures]) };
  };
  network = async (json: string) => {
    const inputShape = json === 'small' ? [1, 8, 8] : [1, 28, 28];
    builds?.();
    if (json === 'bad') throw new Error('network: line 1: expected a value');
    return {
      layers: [
        { name: 'large', type: 'convolution', shape: [1, 4000, 4000], parameters: 0, multiplyAdds: work },
        { name: 'a', type: 'relu', shape: [10], parameters: 0, multiplyAdds: 0 },
      ],
      hasWeights: json === 'learnt', inputShape, outputShape: [10], disposed: false,
      dispose() { this.disposed = true; }, initialize: async () => { ++this.drawn; }, saveWeights: async () => this.weights,
      loadWeights: async (weights: Uint8Array<ArrayBuffer>) => { this.weights = weights; },
      predict: async () => tensor([1, 10]), activations: async () => [tensor([1, 10])], parameters: async () => [],
      evaluate: async () => {
        const accuracy = ++this.tests / 10;
        await held;
        return { loss: 1, accuracy, confusion: new Int32Array(100) };
      },
    };
  };
  train = (_: unknown, __: unknown, ___: unknown, options: TrainOptions) => {
    let fail!: (error: Error) => void;
    const finished = new Promise((_, reject) => (fail = reject));
    const training = { options, finished, fail, paused: false, pause: async () => { training.paused = true; },
      resume: () => { training.paused = false; } };
    this.trainings.push(training);
    return training;
  };
}

/** The files of the data set are there no more, and no library can be loaded. */
let gone: boolean, offline: boolean;
/** The files of the data set never arrive. */
let stalled: boolean;
/** Called when a network is made. */
let builds: (() => void) | undefined;
/** How many pairs of files can be read, and how many tensors there is room for. */
let readable: number, room: number;
/** In each file of the data set. */
let pictures: number;
/** Multiply-adds of networks. */
let work: number;
/** Evaluations wait for it. */
let held: Promise<void> | undefined;
let libraries: Library[], session: Session;
beforeEach(async () => {
  gone = offline = stalled = false;
  readable = room = Infinity;
  held = builds = undefined;
  pictures = 100;
  work = 0;
  live.clear();
  libraries = [];
  session = new Session(async (options) => {
    if (offline) throw new Error('[load] expected the module, got none');
    libraries.push(new Library(options?.threads ?? 2));
    return libraries.at(-1) as unknown as Kaiseki;
  });
  await session.open();
});

const step = (number: number): Progress =>
  ({ step: number, epoch: 0, loss: 1 / number, accuracy: 0.5, imagesPerSecond: 100, learningRate: 0.01, batchSize: 50 });

test('starts, pauses and resumes the same training, and tells it a new rate', async () => {
  await session.start();
  const [training] = libraries[0].trainings;
  training.options.onStep!(step(7));
  await session.pause();
  expect([session.phase.value, training.paused, session.history.step.value]).toEqual(['paused', true, 7]);
  session.setLearningRate(0.5);
  expect(training.learningRate).toBe(0.5);
  await session.start();
  expect([session.phase.value, training.paused, libraries[0].trainings.length]).toEqual(['running', false, 1]);
});

test('another optimizer goes on counting where the last one stopped', async () => {
  await session.start();
  libraries[0].trainings[0].options.onStep!(step(40));
  await session.pause();
  await session.setOptimizer('adam', 0.001);
  expect(libraries[0].trainings[0].options.signal!.aborted).toBe(true);
  await session.start();
  libraries[0].trainings[1].options.onStep!(step(2));
  await session.pause();
  expect(session.history.step.value).toBe(42);
});

test('an error ends training, is told, and it can start again', async () => {
  await session.start();
  libraries[0].trainings[0].fail(new Error('[memory] expected room'));
  await eventually(() => expect(session.problems.value.training).toBe('[memory] expected room'));
  expect(session.phase.value).toBe('ready');
  await session.start();
  expect([session.phase.value, session.problems.value.training]).toEqual(['running', '']);
});

test('a worker that died is told, and is loaded again', async () => {
  await session.start();
  libraries[0].die(new Error('the worker has ended'));
  await eventually(() => expect(session.phase.value).toBe('broken'));
  expect(session.problems.value.engine).toBe('the worker has ended');
  await session.open();
  expect([session.phase.value, session.problems.value.engine, libraries.length]).toEqual(['ready', '', 2]);
});

test('a network that is refused leaves the one that was there', async () => {
  const before = session.network.value;
  await session.useNetwork('bad');
  expect(session.network.value).toBe(before);
  expect(session.problems.value.network).toBe('network: line 1: expected a value');
  expect(session.phase.value).toBe('ready');
});

test('a network whose steps would take minutes is refused before anything is computed', async () => {
  work = 15.5e9;  // VGG-16
  await session.useNetwork('{}');
  expect(session.problems.value.network).toBe('');
  const before = session.network.value;
  work = 1.2e11;
  await session.useNetwork('{}');
  expect(session.problems.value.network).toMatch(/^\[network\] expected at most 100G multiply-adds for a picture, .*, got 120G: /);
  expect([session.network.value, libraries[0].drawn]).toEqual([before, 2]);
});

test('weights that come with a network stay', async () => {
  await session.useNetwork('learnt');
  expect(libraries[0].drawn).toBe(1);
  await session.useNetwork('{}');
  expect(libraries[0].drawn).toBe(2);
});

test('a network or data that is taken ends the problem of the training before it', async () => {
  for (const next of [() => session.useNetwork('{}'), () => session.useData({ kind: 'digits' })]) {
    await session.start();
    libraries[0].trainings.at(-1)!.fail(new Error('[memory] expected room'));
    await eventually(() => expect(session.problems.value.training).toBe('[memory] expected room'));
    await session.useNetwork('bad');
    expect(session.problems.value.training).toBe('[memory] expected room');
    await next();
    expect(session.problems.value.training).toBe('');
  }
});

test('layers that give millions of values are not looked at', () => {
  expect(session.inspector.layers.value.map(({ name }) => name)).toEqual(['a']);
});

test('the rate that comes with a network is for momentum alone', async () => {
  await session.useNetwork('{}', 0.05);
  expect(session.learningRate.value).toBe(0.05);
  await session.setOptimizer('adam', 0.001);
  await session.useNetwork('{}', 0.01);
  expect(session.learningRate.value).toBe(0.001);
});

test('other threads keep the weights and the steps', async () => {
  await session.start();
  libraries[0].trainings[0].options.onStep!(step(5));
  await session.pause();
  await session.open(4);
  expect([session.threads.value, libraries[0].closedByPage, session.phase.value, session.history.step.value]).toEqual([4, true, 'paused', 5]);
});

const files = ['train-images-idx3-ubyte', 'train-labels-idx1-ubyte', 't10k-images-idx3-ubyte', 't10k-labels-idx1-ubyte']
  .map((name) => new File([], name));

test('other threads keep the weights where the data cannot be opened again', async () => {
  await session.useData({ kind: 'files', files });
  expect(session.data.value!.name).toBe('MNIST');
  await session.start();
  libraries[0].trainings[0].options.onStep!(step(5));
  await session.pause();
  libraries[0].weights = new Uint8Array([7, 8]);
  gone = true;
  await session.open(4);
  expect([...libraries[1].weights]).toEqual([7, 8]);
  expect([session.phase.value, session.data.value!.name, session.history.step.value]).toEqual(['paused', 'Built-in digits', 5]);
  expect(session.problems.value).toMatchObject({ data: '[data] expected the file, got none', engine: '' });
});

test('training pauses while data is on its way, and goes on when that is given up', async () => {
  await session.start();
  stalled = true;
  const loaded = session.useData({ kind: 'files', files });
  await eventually(() => expect(session.loading.value).not.toBeNull());
  await session.pause();
  expect([session.phase.value, libraries[0].trainings[0].paused, session.busy.value]).toEqual(['paused', true, 'Loading data']);
  session.cancel();
  await loaded;
  expect([session.notice.value, session.problems.value.data, session.loading.value]).toEqual(['Loading data was cancelled', '', null]);
  await session.start();
  expect([session.phase.value, libraries[0].trainings.length]).toEqual(['running', 1]);
});

test('newer data is loaded instead of what is on its way or waits for it', async () => {
  stalled = true;
  void session.useData({ kind: 'files', files });
  await eventually(() => expect(session.loading.value).not.toBeNull());
  void session.useData({ kind: 'files', files });
  await session.useData({ kind: 'digits' });
  expect([session.notice.value, session.problems.value.data]).toEqual(['Data ready: Built-in digits', '']);
});

test('newer data is loaded instead of what has its network made only now', async () => {
  stalled = true;
  const made = new Promise<void>((resolve) => (builds = resolve));
  void session.useData({ kind: 'files', files });
  await made;
  await session.useData({ kind: 'digits' });
  expect([session.notice.value, session.problems.value.data]).toEqual(['Data ready: Built-in digits', '']);
});

test('training that fails while it is told to pause is not paused', async () => {
  await session.start();
  const [training] = libraries[0].trainings;
  training.pause = async () => {
    training.fail(new Error('[memory] expected room'));
    await eventually(() => expect(session.problems.value.training).toBe('[memory] expected room'));
  };
  await session.pause();
  expect([session.phase.value, session.notice.value]).toEqual(['ready', 'Training']);
});

test('the first 2,000 pictures of the test set are tested with', async () => {
  pictures = 3000;
  await session.useData({ kind: 'files', files });
  const { train, test } = session.data.value!;
  expect([train.images.shape[0], test.images.shape[0], test.labels.shape[0]]).toEqual([3000, 2000, 2000]);
});

test.each([[3000, 60], [20000, 100]])('with %i pictures, a test runs after every %i steps', async (count, between) => {
  pictures = count;
  await session.useData({ kind: 'files', files });
  await session.start();
  for (const [at, tests] of [[between - 1, 0], [between, 1], [2 * between - 1, 1], [2 * between, 2]]) {
    libraries[0].trainings[0].options.onStep!(step(at));
    await eventually(() => expect([session.history.step.value, libraries[0].tests]).toEqual([at, tests]));
  }
});

test('an evaluation of weights that were given up or replaced meanwhile is not shown', async () => {
  let release = (): void => undefined;
  held = new Promise((resolve) => (release = resolve));
  await session.start();
  libraries[0].trainings[0].options.onStep!(step(60));
  await eventually(() => expect(libraries[0].tests).toBe(1));
  await session.reset();
  const loaded = session.loadWeights(new Blob([]));
  await eventually(() => expect(libraries[0].tests).toBe(2));
  expect(session.history.test.value).toBeNull();
  release();
  await loaded;
  expect(session.history.test.value!.accuracy).toBe(0.2);
  await session.reset();
  expect(session.history.test.value).toBeNull();
});

test('a step that fails leaves no optimizer behind', async () => {
  const optimizers = vi.spyOn(libraries[0], 'optimizer');
  await session.start();
  libraries[0].trainings[0].fail(new Error('[memory] expected room'));
  await eventually(() => expect(session.problems.value.training).toBe('[memory] expected room'));
  await session.start();
  expect(optimizers).toHaveBeenCalledTimes(2);
});

test('weights wait for a library that cannot be loaded at once', async () => {
  libraries[0].weights = new Uint8Array([9]);
  offline = true;
  await session.open(4);
  expect([session.phase.value, session.problems.value.engine]).toEqual(['broken', '[load] expected the module, got none']);
  offline = false;
  await session.open();
  expect([...libraries[1].weights]).toEqual([9]);
  expect(session.phase.value).toBe('ready');
});

test('weights that cannot be saved keep the library that has them', async () => {
  session.network.value!.saveWeights = async () => { throw new Error('[memory] expected room'); };
  await session.open(4);
  expect([session.problems.value.engine, session.phase.value, libraries.length]).toEqual(['[memory] expected room', 'ready', 1]);
  expect(libraries[0].closedByPage).toBe(false);
});

test('networks and data come and go without a tensor left behind', async () => {
  await session.inspector.sample();
  await eventually(() => expect(live.size).toBe(4));
  for (let i = 0; i < 3; ++i) {
    await session.useNetwork('{}');
    await session.useData({ kind: 'digits' });
  }
  await eventually(() => expect(live.size).toBe(4));
});

test('a picture that cannot be had is told, and leaves no tensor behind', async () => {
  await eventually(() => expect(live.size).toBe(4));
  vi.spyOn(session.data.value!.test.labels, 'slice').mockRejectedValue(new Error('[memory] expected room'));
  await session.inspector.sample();
  expect(session.problems.value.data).toBe('[memory] expected room');
  await eventually(() => expect(live.size).toBe(4));
});

test('an answer that comes after another failed leaves no tensor behind', async () => {
  await eventually(() => expect(live.size).toBe(4));
  const network = session.network.value!, { activations } = network;
  let late: Promise<unknown> | undefined;
  network.predict = async () => { throw new Error('[memory] expected room'); };
  network.activations = (...asked) =>
    late = new Promise((resolve) => setTimeout(resolve, 100)).then(() => activations(...asked)) as ReturnType<typeof activations>;
  session.inspector.refresh();
  await eventually(() => expect(session.problems.value.training).toBe('[memory] expected room'));
  await late;
  await eventually(() => expect(live.size).toBe(4));
});

test('data that cannot be had, or does not fit into memory, leaves no tensor behind', async () => {
  await session.inspector.sample();
  await session.useNetwork('small');
  await eventually(() => expect(live.size).toBe(6));  // the pictures as they came, and as they fit
  const before = session.data.value;
  const fails = async (message: string) => {
    await session.useData({ kind: 'files', files });
    expect([session.problems.value.data, session.data.value]).toEqual([message, before]);
    await eventually(() => expect(live.size).toBe(6));
  };
  readable = 1;
  await fails('[data] expected the file, got none');
  readable = Infinity;
  for (room of [0, 1]) await fails('[memory] expected room');
});
