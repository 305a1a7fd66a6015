// SPDX-License-Identifier: MIT
// The session with a fake library, for events that a browser cannot produce on demand.
import { effect } from '@preact/signals';
import type { Data, FetchOptions, Kaiseki, Progress, TrainOptions } from 'kaiseki';
import { beforeEach, expect, test, vi } from 'vitest';
import { Session } from '../src/state/session';

vi.mock('kaiseki', () => ({ load: () => undefined }));

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 60_000 });

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
const live = new Set<{ dispose(): void }>();

class Library {
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
    if (--room < 0) throw new Error('[memory] expected room');
    return tensor(shape);
  };
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
    if (stalled) await new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)));
    if (gone || --readable < 0) throw new Error('[data] expected the file, got none');
    return { images: tensor([pictures, 1, 28, 28]), labels: tensor([pictures]) };
  };
  network = async (json: string) => {
    const inputShape = json === 'small' ? [1, 8, 8] : [1, 28, 28];
    builds?.();
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
          operations: work,
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
        await held;
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

/** Whether the data set's files are gone, and whether the library cannot be loaded. */
let gone: boolean, offline: boolean;
/** Whether the data set's files never arrive. */
let stalled: boolean;
/** Called when a network is made. */
let builds: (() => void) | undefined;
/** The number of pairs of files that can be read, and of tensors that fit into memory. */
let readable: number, room: number;
/** The number of pictures in each file of the data set. */
let pictures: number;
/** The networks' multiply-adds. */
let work: number;
/** Evaluations wait for this promise. */
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
  effect(() => session.question.value?.answer(true));
  await session.open();
});

const step = (number: number): Progress => ({
  step: number,
  epoch: 0,
  samples: 50 * number,
  loss: 1 / number,
  accuracy: 0.5,
  imagesPerSecond: 100,
  learningRate: 0.01,
  batchSize: 50,
});

test('starts, pauses and resumes the same training, and changes its learning rate', async () => {
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

test('keeps the step count when the optimizer changes', async () => {
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

test('shows the error that ends training, and can start again', async () => {
  await session.start();
  libraries[0].trainings[0].fail(new Error('[memory] expected room'));
  await eventually(() => expect(session.problems.value.training).toBe('[memory] expected room'));
  expect(session.phase.value).toBe('ready');
  await session.start();
  expect([session.phase.value, session.problems.value.training]).toEqual(['running', '']);
});

test('reports that the worker ended, and loads another', async () => {
  await session.start();
  libraries[0].die(new Error('the worker has ended'));
  await eventually(() => expect(session.phase.value).toBe('broken'));
  expect(session.problems.value.engine).toBe('the worker has ended');
  await session.open();
  expect([session.phase.value, session.problems.value.engine, libraries.length]).toEqual(['ready', '', 2]);
});

test('keeps the old network when a new one is rejected', async () => {
  const before = session.network.value;
  await session.useNetwork('bad');
  expect(session.network.value).toBe(before);
  expect(session.problems.value.network).toBe('network: line 1: expected a value');
  expect(session.phase.value).toBe('ready');
});

test('rejects a network whose steps would take minutes', async () => {
  work = 15.5e9; // VGG-16
  await session.useNetwork('{}');
  expect(session.problems.value.network).toBe('');
  const before = session.network.value;
  work = 1.2e11;
  await session.useNetwork('{}');
  expect(session.problems.value.network).toMatch(
    /^\[network\] expected at most 100G operations for a picture, .*, got 120G: /,
  );
  expect([session.network.value, libraries[0].drawn]).toEqual([before, 2]);
});

test('keeps the weights that come with a network', async () => {
  await session.useNetwork('learnt');
  expect(libraries[0].drawn).toBe(1);
  await session.useNetwork('{}');
  expect(libraries[0].drawn).toBe(2);
});

test('clears a training error when a network or data is loaded', async () => {
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

test('does not request layers with millions of values', () => {
  expect(session.inspector.layers.value.map(({ name }) => name)).toEqual(['a']);
});

test("uses the settings of a network's recipe, and keeps the others", async () => {
  const settings = () => [session.optimizer.value, session.learningRate.value, session.batchSize.value];
  expect(settings()).toEqual(['momentum', 0.03, 64]); // of LeNet, which the page opens
  await session.useNetwork('{"recipe": {"learning_rate": 0.05, "batch_size": 96, "weight_decay": 0.1}}');
  expect(settings()).toEqual(['momentum', 0.05, 96]);
  await session.start();
  expect(libraries[0].optimizers).toEqual([
    ['momentum', expect.objectContaining({ learningRate: 0.05, weightDecay: 0.1 })],
  ]);
  await session.useNetwork('{"recipe": {"optimizer": "adam", "learning_rate": 0.002}}');
  expect(settings()).toEqual(['adam', 0.002, 96]);
  await session.useNetwork('{"layers": []}');
  expect(settings()).toEqual(['adam', 0.002, 96]);
});

const RECIPE = {
  epochs: 4,
  schedule: 'cosine',
  warmup: 0.5,
  augment: 'flip,crop:2',
  mean: [0.2],
  std: [0.5],
};

test('trains for the epochs of the recipe, with its schedule, augmentation and normalization', async () => {
  await session.useNetwork(JSON.stringify({ recipe: RECIPE }));
  await session.start();
  const [{ options, data, finish }] = libraries[0].trainings;
  expect(options).toMatchObject({
    schedule: { name: 'cosine', epochs: 4, done: 0, warmup: 0.5 },
    augment: 'flip,crop:2',
  });
  expect(data).toMatchObject({ mean: [0.2], std: [0.5] });
  options.onStep!({ ...step(240), samples: 4 * 3000 });
  finish();
  await eventually(() => expect(session.notice.value).toBe('Finished after 4 epochs'));
  expect([session.phase.value, session.finished.value, session.history.epoch.value]).toEqual(['paused', true, 4]);
  await session.start();
  expect([session.phase.value, session.finished.value]).toEqual(['running', false]);
  expect(libraries[0].trainings[1].options.schedule).toMatchObject({ epochs: 4, done: 0 });
});

test('continues the schedule where it was, also after other epochs are entered', async () => {
  await session.useNetwork(JSON.stringify({ recipe: RECIPE }));
  await session.start();
  libraries[0].trainings[0].options.onStep!({ ...step(90), samples: 4500 });
  await session.pause();
  session.setEpochs(6);
  expect(libraries[0].trainings[0].options.signal!.aborted).toBe(true);
  await session.start();
  expect(libraries[0].trainings[1].options.schedule).toMatchObject({ epochs: 6, done: 1.5 });
  expect(libraries[0].optimizers.length).toBe(1);
});

test('rejects a normalization of another number of channels', async () => {
  await session.useNetwork('{"recipe": {"mean": [0.1, 0.2, 0.3]}}');
  expect(session.problems.value.network).toBe('[network] recipe.mean: expected 1 number or 1, got 3');
});

test('keeps weights and steps when the number of threads changes', async () => {
  await session.start();
  libraries[0].trainings[0].options.onStep!(step(5));
  await session.pause();
  await session.open(4);
  expect([session.threads.value, libraries[0].closedByPage, session.phase.value, session.history.step.value]).toEqual([
    4,
    true,
    'paused',
    5,
  ]);
});

const files = [
  'train-images-idx3-ubyte',
  'train-labels-idx1-ubyte',
  't10k-images-idx3-ubyte',
  't10k-labels-idx1-ubyte',
].map((name) => new File([], name));

test('keeps the weights when the data cannot be loaded again', async () => {
  await session.useData({ kind: 'files', files });
  expect(session.data.value!.name).toBe('MNIST');
  await session.start();
  libraries[0].trainings[0].options.onStep!(step(5));
  await session.pause();
  libraries[0].weights = new Uint8Array([7, 8]);
  gone = true;
  await session.open(4);
  expect([...libraries[1].weights]).toEqual([7, 8]);
  expect([session.phase.value, session.data.value!.name, session.history.step.value]).toEqual([
    'paused',
    'Built-in digits',
    5,
  ]);
  expect(session.problems.value).toMatchObject({
    data: '[data] expected the file, got none. Select the files of MNIST again before you resume.',
    engine: '',
  });
  await session.start();
  expect([session.phase.value, libraries[1].trainings.length]).toEqual(['paused', 0]);
});

test('can pause training while data loads, and continues after a cancel', async () => {
  await session.start();
  stalled = true;
  const loaded = session.useData({ kind: 'files', files });
  await eventually(() => expect(session.loading.value).not.toBeNull());
  await session.pause();
  expect([session.phase.value, libraries[0].trainings[0].paused, session.busy.value]).toEqual([
    'paused',
    true,
    'Loading data',
  ]);
  session.cancel();
  await loaded;
  expect([session.notice.value, session.problems.value.data, session.loading.value]).toEqual([
    'Loading data was cancelled',
    '',
    null,
  ]);
  await session.start();
  expect([session.phase.value, libraries[0].trainings.length]).toEqual(['running', 1]);
});

test('newer data replaces data that is loading or waiting', async () => {
  stalled = true;
  void session.useData({ kind: 'files', files });
  await eventually(() => expect(session.loading.value).not.toBeNull());
  void session.useData({ kind: 'files', files });
  await session.useData({ kind: 'digits' });
  expect([session.notice.value, session.problems.value.data]).toEqual(['Data ready: Built-in digits', '']);
});

test('newer data replaces data whose network is being made', async () => {
  stalled = true;
  const made = new Promise<void>((resolve) => (builds = resolve));
  void session.useData({ kind: 'files', files });
  await made;
  await session.useData({ kind: 'digits' });
  expect([session.notice.value, session.problems.value.data]).toEqual(['Data ready: Built-in digits', '']);
});

test('does not show a failed training as paused', async () => {
  await session.start();
  const [training] = libraries[0].trainings;
  training.pause = async () => {
    training.fail(new Error('[memory] expected room'));
    await eventually(() => expect(session.problems.value.training).toBe('[memory] expected room'));
  };
  await session.pause();
  expect([session.phase.value, session.notice.value]).toEqual(['ready', 'Training has stopped']);
});

test('tests with the first 2,000 pictures', async () => {
  pictures = 3000;
  await session.useData({ kind: 'files', files });
  const { train, test } = session.data.value!;
  expect([train.images.shape[0], test.images.shape[0], test.labels.shape[0]]).toEqual([3000, 2000, 2000]);
});

test.each([
  [3000, 60],
  [20000, 100],
])('with %i pictures, tests after every %i steps', async (count, between) => {
  pictures = count;
  session.setBatchSize(50);
  await session.useData({ kind: 'files', files });
  await session.start();
  for (const [at, tests] of [
    [between - 1, 0],
    [between, 1],
    [2 * between - 1, 1],
    [2 * between, 2],
  ]) {
    libraries[0].trainings[0].options.onStep!(step(at));
    await eventually(() => expect([session.history.step.value, libraries[0].tests]).toEqual([at, tests]));
  }
});

test('discards an evaluation of replaced weights', async () => {
  let release = (): void => undefined;
  held = new Promise((resolve) => (release = resolve));
  await session.start();
  libraries[0].trainings[0].options.onStep!(step(60));
  await eventually(() => expect(libraries[0].tests).toBe(1));
  await session.reset();
  const loaded = session.loadWeights(new Blob(['{}']));
  await eventually(() => expect(libraries[0].tests).toBe(2));
  expect(session.history.test.value).toBeNull();
  release();
  await loaded;
  expect(session.history.test.value!.accuracy).toBe(0.2);
  await session.reset();
  expect(session.history.test.value).toBeNull();
});

test('frees the optimizer after a failed step', async () => {
  const optimizers = vi.spyOn(libraries[0], 'optimizer');
  await session.start();
  libraries[0].trainings[0].fail(new Error('[memory] expected room'));
  await eventually(() => expect(session.problems.value.training).toBe('[memory] expected room'));
  await session.start();
  expect(optimizers).toHaveBeenCalledTimes(2);
});

test('keeps the weights until a library can be loaded', async () => {
  libraries[0].weights = new Uint8Array([9]);
  offline = true;
  await session.open(4);
  expect([session.phase.value, session.problems.value.engine]).toEqual([
    'broken',
    '[load] expected the module, got none',
  ]);
  offline = false;
  await session.open();
  expect([...libraries[1].weights]).toEqual([9]);
  expect(session.phase.value).toBe('ready');
});

test('keeps the library when its weights cannot be saved', async () => {
  session.network.value!.saveWeights = async () => {
    throw new Error('[memory] expected room');
  };
  await session.open(4);
  expect([session.problems.value.engine, session.phase.value, libraries.length]).toEqual([
    '[memory] expected room',
    'ready',
    1,
  ]);
  expect(libraries[0].closedByPage).toBe(false);
});

test('frees all tensors of replaced networks and data', async () => {
  await session.inspector.sample();
  await eventually(() => expect(live.size).toBe(4));
  for (let i = 0; i < 3; ++i) {
    await session.useNetwork('{}');
    await session.useData({ kind: 'digits' });
  }
  await eventually(() => expect(live.size).toBe(4));
});

test('reports a picture that cannot be read, and frees its tensors', async () => {
  await eventually(() => expect(live.size).toBe(4));
  vi.spyOn(session.data.value!.test.labels, 'slice').mockRejectedValue(new Error('[memory] expected room'));
  await session.inspector.sample();
  expect(session.problems.value.data).toBe('[memory] expected room');
  await eventually(() => expect(live.size).toBe(4));
});

test('frees the tensors of an answer that comes after a failure', async () => {
  await eventually(() => expect(live.size).toBe(4));
  const network = session.network.value!,
    { activations } = network;
  let late: Promise<unknown> | undefined;
  network.predict = async () => {
    throw new Error('[memory] expected room');
  };
  network.activations = (...asked) =>
    (late = new Promise((resolve) => setTimeout(resolve, 100)).then(() => activations(...asked)) as ReturnType<
      typeof activations
    >);
  session.inspector.refresh();
  await eventually(() => expect(session.problems.value.training).toBe('[memory] expected room'));
  await late;
  await eventually(() => expect(live.size).toBe(4));
});

test('frees the tensors of data that cannot be loaded', async () => {
  await session.inspector.sample();
  await session.useNetwork('small');
  await eventually(() => expect(live.size).toBe(6)); // the original pictures and the fitted ones
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
