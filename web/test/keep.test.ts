// SPDX-License-Identifier: MIT
// Trained weights are not lost if a training diverges or the page is opened again. The page asks before it discards
// them.
import type { Kaiseki, Progress, TrainOptions } from 'kaiseki';
import { beforeEach, expect, test, vi } from 'vitest';
import type { SavedTraining, Store } from '../src/state/keeper';
import { Session } from '../src/state/session';

vi.mock('kaiseki', () => ({ load: () => undefined }));

const tensor = (shape: number[]) => ({
  shape,
  dispose() {},
  slice: async () => tensor(shape),
  toTypedArray: async () => new Float32Array(shape.reduce((a, b) => a * b, 1)),
});

/** The weights of the network. Every step changes them. */
let weights: number, parameters: number;
/** The optimizer's state. */
let velocity: number;
let trainings: TrainOptions[];
let stored: SavedTraining | undefined, refuses: boolean;
/** The store writes only after this promise. */
let written: Promise<void> | undefined;
/** Whether the files of the data set are gone. */
let gone: boolean;
let session: Session;

const library = {
  threads: 1,
  closed: new Promise(() => {}) as Promise<unknown>,
  close() {},
  tensor: async (_: unknown, shape: number[]) => tensor(shape),
  normalize: async ({ shape }: { shape: number[] }) => tensor(shape),
  tidy: (body: (scope: unknown) => unknown) => body(library),
  optimizer: async () => ({
    dispose() {},
    saveState: async () => new Uint8Array([velocity]),
    loadState: async (_: unknown, [value]: Uint8Array) => {
      velocity = value;
    },
  }),
  digits: async () => ({ images: tensor([3000, 1, 28, 28]), labels: tensor([3000]) }),
  mnist: async () => {
    if (gone) throw new Error('[data] expected the file, got none');
    return { images: tensor([100, 1, 28, 28]), labels: tensor([100]) };
  },
  network: async (json: string) => {
    if (json === 'bad') throw new Error('network: line 1: expected a value');
    return {
      json: {},
      layers: [{ name: 'a', type: 'relu', shape: [10], parameters, multiplyAdds: 0, operations: 0 }],
      inputShape: [1, 28, 28],
      outputShape: [10],
      dispose() {},
      initialize: async () => {
        weights = 0;
      },
      saveWeights: async () => new Uint8Array([weights]),
      loadWeights: async (bytes: Uint8Array | Blob) => {
        if (bytes instanceof Blob) throw new Error('[weights] expected weights');
        [weights] = bytes;
      },
      predict: async () => tensor([1, 10]),
      activations: async () => [tensor([1, 10])],
      parameters: async () => [],
      evaluate: async () => ({ loss: 1, accuracy: 0.5, confusion: new Int32Array(100) }),
    };
  },
  train: (_: unknown, __: unknown, ___: unknown, options: TrainOptions) => {
    trainings.push(options);
    return { finished: new Promise(() => {}), pause: async () => {}, resume() {} };
  },
};

const store: Store = {
  read: async () => {
    if (refuses) throw new Error('not allowed');
    return stored;
  },
  write: async (training) => {
    if (refuses) throw new Error('no room');
    await written;
    stored = structuredClone(training);
  },
  clear: async () => {
    if (refuses) throw new Error('not allowed');
    stored = undefined;
  },
};

async function visit(): Promise<void> {
  trainings = [];
  velocity = 0;
  session = new Session(async () => library as unknown as Kaiseki, store);
  await session.open();
}

beforeEach(async () => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  stored = undefined;
  refuses = gone = false;
  written = undefined;
  parameters = 10;
  await visit();
});

/** A step of the current training. */
function step(number: number, loss = 1 / number): void {
  weights = number;
  const learningRate = session.learningRate.value;
  const progress: Progress = {
    step: number,
    epoch: 0,
    samples: 50 * number,
    loss,
    accuracy: 0.5,
    imagesPerSecond: 9,
    learningRate,
    batchSize: 50,
  };
  trainings.at(-1)!.onStep!(progress);
}

/** Waits until all actions so far have run. */
const idle = async (): Promise<void> => void (await session.saveWeights());

test.each([NaN, Infinity])(
  'stops when the loss is %d, restores the weights, and continues with a lower rate',
  async (loss) => {
    session.setLearningRate(1);
    await session.start();
    for (let i = 1; i < 9; ++i) step(i);
    step(9, loss);
    await idle();
    expect(trainings[0].signal!.aborted).toBe(true);
    expect([session.phase.value, session.notice.value, weights, session.history.step.value]).toEqual([
      'ready',
      'Training has stopped',
      0,
      0,
    ]);
    expect(session.problems.value.training).toBe(
      'The loss became infinite or not a number after step 8, so training stopped. ' +
        'A learning rate of 1 is too high for this network. The weights of step 0 are restored.',
    );
    expect(session.lowerRate.value).toBe(0.1);
    await session.continueSlower();
    expect([trainings.length, trainings[1].learningRate, session.phase.value]).toEqual([2, 0.1, 'running']);
    expect([session.problems.value.training, session.lowerRate.value]).toEqual(['', null]);
  },
);

test('restores a copy of a later step, but none that was bad already', async () => {
  vi.useFakeTimers();
  await session.start();
  step(1, 2.3);
  const copyAt = async (number: number, loss: number) => {
    await vi.advanceTimersByTimeAsync(5000);
    step(number, loss);
    await vi.advanceTimersByTimeAsync(1);
  };
  await copyAt(2, 0.5);
  step(3, 0.5);
  for (let i = 4; i < 10; ++i) await copyAt(i, 100);
  step(10, NaN);
  await idle();
  expect([weights, session.history.step.value, session.phase.value]).toEqual([2, 2, 'paused']);
  expect(session.problems.value.training).toMatch(/The weights of step 2 are restored\.$/);
});

test('a first step without a finite loss is no fault of the rate', async () => {
  await session.start();
  step(1, NaN);
  await idle();
  expect(session.problems.value.training).toMatch(/^The loss of the first step .* damaged/);
  expect(session.lowerRate.value).toBeNull();
});

test('a network that is too large for copies is stopped too', async () => {
  parameters = 2 ** 25;
  await session.useNetwork('{}');
  await session.start();
  step(1);
  step(2, NaN);
  await idle();
  expect(session.problems.value.training).toMatch(/too large for copies/);
  expect(session.losesSteps).toBe(true);
});

test('steps of a browser that stores nothing are lost from the first one on', async () => {
  refuses = true;
  await visit();
  expect([session.earlier.value, session.losesSteps]).toEqual([null, false]);
  await session.start();
  step(1);
  await vi.waitFor(() => expect(session.history.step.value).toBe(1));
  expect(session.losesSteps).toBe(true);
});

const ACTIONS: [string, () => Promise<void>][] = [
  ['Reset', () => session.reset()],
  ['another network', () => session.useNetwork('{}')],
  ['other data', () => session.useData({ kind: 'digits' })],
  ['other weights', () => session.loadWeights(new Blob(['{}']))],
];
test.each(ACTIONS)('asks before trained weights are discarded: %s', async (_, action) => {
  await session.start();
  step(7);
  await session.pause();
  const before = session.network.value;
  let asked = action();
  expect(session.question.value!.text).toBe('This discards 7 steps of training.');
  session.question.value!.answer(false);
  await asked;
  expect([session.network.value, session.history.step.value, weights, session.question.value]).toEqual([
    before,
    7,
    7,
    null,
  ]);
  expect(stored!.history.step).toBe(7);
  asked = action();
  session.question.value!.answer(true);
  await asked;
  if (_ === 'other weights') return expect(session.problems.value.weights).toBe('[weights] expected weights');
  expect([session.history.step.value, stored]).toEqual([0, undefined]);
  await action(); // nothing is trained, so nothing is asked
});

test('ends a training before other weights are loaded', async () => {
  await session.start();
  step(7);
  await session.pause();
  await session.start();
  const network = session.network.value!;
  const load = async (action: () => void) => {
    network.loadWeights = async () => {
      expect(trainings[0].signal!.aborted).toBe(true);
      action();
      return '';
    };
    const loaded = session.loadWeights(new Blob(['{}']));
    session.question.value!.answer(true);
    await loaded;
  };
  await load(() => {
    throw new Error('[weights] expected weights');
  });
  expect(session.problems.value.weights).toBe('[weights] expected weights');
  expect([session.phase.value, session.history.step.value, weights]).toEqual(['paused', 7, 7]);
  await load(() => (weights = 3));
  expect([session.phase.value, session.history.step.value, weights, stored]).toEqual(['ready', 0, 3, undefined]);
});

test('a later visit continues the training', async () => {
  await session.useNetwork('{}');
  await session.setOptimizer('adam', 0.002);
  session.setBatchSize(20);
  await session.start();
  step(40);
  await session.pause();
  await visit();
  expect(session.history.step.value).toBe(0);
  expect(session.earlier.value!.history.step).toBe(40);
  await session.continueEarlier();
  expect([weights, session.phase.value, session.history.step.value, session.json.value]).toEqual([
    40,
    'paused',
    40,
    '{}',
  ]);
  expect([session.optimizer.value, session.learningRate.value, session.batchSize.value]).toEqual(['adam', 0.002, 20]);
  expect([session.history.losses.x, session.earlier.value]).toEqual([[40], null]);
  await session.start();
  step(2);
  await session.pause();
  expect(session.history.step.value).toBe(42);
});

test('stores a training every few seconds while it runs', async () => {
  vi.useFakeTimers();
  await session.start();
  for (let i = 1; i < 4; ++i) {
    await vi.advanceTimersByTimeAsync(5000);
    step(i);
  }
  await vi.advanceTimersByTimeAsync(1);
  expect([stored!.history.step, session.losesSteps]).toEqual([2, false]);
});

test('makes no further copies while the store is slow', async () => {
  vi.useFakeTimers();
  let finish!: () => void;
  written = new Promise((resolve) => (finish = resolve));
  await session.start();
  const copies = vi.spyOn(session.network.value!, 'saveWeights');
  const run = async (from: number, to: number) => {
    for (let i = from; i <= to; ++i) {
      await vi.advanceTimersByTimeAsync(5000);
      step(i);
    }
  };
  await run(1, 10);
  expect([copies.mock.calls.length, stored]).toEqual([2, undefined]);
  finish();
  await run(11, 13);
  await vi.advanceTimersByTimeAsync(1);
  expect([copies.mock.calls.length, stored!.history.step]).toEqual([5, 12]);
});

test('asks before a new training discards the one of an earlier visit', async () => {
  await session.start();
  step(40);
  await session.pause();
  await visit();
  let started = session.start();
  expect(session.question.value!.text).toBe('This discards your last training of 40 steps.');
  session.question.value!.answer(false);
  await started;
  expect([trainings.length, stored!.history.step]).toEqual([0, 40]);
  started = session.start();
  session.question.value!.answer(true);
  await started;
  expect([trainings.length, stored, session.earlier.value]).toEqual([1, undefined, null]);
});

test('a worker that ended is replaced with the last copy of the weights', async () => {
  vi.useFakeTimers();
  let die!: (error: Error) => void;
  library.closed = new Promise((resolve) => (die = resolve));
  await visit();
  await session.start();
  for (let i = 1; i < 4; ++i) {
    await vi.advanceTimersByTimeAsync(5000);
    step(i);
  }
  die(new Error('the worker has ended'));
  await vi.advanceTimersByTimeAsync(1);
  expect(session.phase.value).toBe('broken');
  library.closed = new Promise(() => {});
  weights = 0;
  await session.open();
  expect([session.phase.value, session.history.step.value, weights]).toEqual(['paused', 2, 2]);
});

const FILES = ['train-images', 'train-labels', 't10k-images', 't10k-labels'].map(
  (name) => new File([], `${name}-idx${name.endsWith('images') ? 3 : 1}-ubyte`),
);

/** Continues a training of 40 steps with data of `origin` in another visit. */
async function continueWith(origin: SavedTraining['origin']): Promise<void> {
  await session.start();
  step(40);
  await session.pause();
  stored = { ...stored!, origin, dataName: 'MNIST' };
  await visit();
  await session.continueEarlier();
}

test('asks for files again that the training used, and continues with them', async () => {
  await continueWith(null);
  expect([session.phase.value, session.notice.value]).toEqual(['paused', 'The training waits for its data, MNIST']);
  expect(session.problems.value.data).toBe('Select the files of MNIST again before you resume.');
  await session.keep();
  expect([stored!.origin, stored!.dataName, stored!.history.step]).toEqual([null, 'MNIST', 40]);
  gone = true;
  await session.useData({ kind: 'files', files: FILES });
  expect(session.problems.value.data).toBe('[data] expected the file, got none');
  gone = false;
  await session.useData({ kind: 'files', files: FILES });
  expect([session.question.value, session.data.value!.name, session.problems.value.data]).toEqual([null, 'MNIST', '']);
  expect([session.phase.value, session.history.step.value, weights, stored!.history.step]).toEqual([
    'paused',
    40,
    40,
    40,
  ]);
  void session.useData({ kind: 'digits' });
  expect(session.question.value!.text).toBe('This discards 40 steps of training.');
});

test('does not train on other data instead of the missing files, unless they are selected', async () => {
  await continueWith(null);
  await session.start();
  expect([trainings.length, session.phase.value]).toEqual([0, 'paused']);
  await session.useData({ kind: 'digits' });
  await session.start();
  expect([trainings.length, session.phase.value, session.history.step.value]).toEqual([1, 'running', 40]);
});

test('data whose address did not load can be selected again', async () => {
  vi.stubGlobal('location', new URL('http://localhost/'));
  const origin = { kind: 'address', address: '/mnist' } as const;
  gone = true;
  await continueWith(origin);
  expect([session.notice.value, session.problems.value.data]).toEqual([
    'The training waits for its data, MNIST',
    '[data] expected the file, got none. MNIST could not be loaded again. Load the data again, or select other data, before you resume.',
  ]);
  await session.keep();
  expect(stored!.origin).toEqual(origin);
  gone = false;
  await session.useData(origin);
  expect([session.question.value, session.data.value!.name, session.history.step.value, weights]).toEqual([
    null,
    'MNIST',
    40,
    40,
  ]);
});

test('knows when the browser does not store', async () => {
  refuses = true;
  await session.start();
  step(5);
  await session.pause();
  expect(session.losesSteps).toBe(true);
});

test('an action that fails does not leave the status of the one before', async () => {
  await session.useNetwork('{}');
  expect(session.notice.value).toBe('Network ready: 1 layers');
  await session.useNetwork('bad');
  expect(session.notice.value).toBe('Not a network: see the message at Network');
});

test("continues with the optimizer's state, after a reload and with more threads", async () => {
  await session.start();
  velocity = 7;
  step(1);
  await session.pause();
  expect(stored!.optimizerState).toEqual(new Uint8Array([7]));
  await visit();
  await session.continueEarlier();
  expect(velocity).toBe(0);
  await session.start();
  expect(velocity).toBe(7);
  velocity = 8;
  await session.pause();
  await session.open(2);
  velocity = 0;
  await session.start();
  expect(velocity).toBe(8);
});

test('another optimizer begins without the state of the last one', async () => {
  await session.start();
  velocity = 7;
  step(1);
  await session.pause();
  await visit();
  await session.continueEarlier();
  await session.setOptimizer('adam', 0.001);
  await session.start();
  expect(velocity).toBe(0);
});

test('a training whose data are gone after another worker was loaded waits for them', async () => {
  vi.stubGlobal('location', new URL('http://localhost/'));
  await session.useData({ kind: 'address', address: '/data/mnist/' });
  await session.start();
  step(1);
  await session.pause();
  gone = true;
  await session.open(2);
  expect(session.problems.value.data).toMatch(/expected the file, got none. MNIST could not be loaded again/);
  await session.start();
  expect([trainings.length, session.phase.value]).toEqual([1, 'paused']);
  expect(session.notice.value).toBe('The training waits for its data, MNIST');
  gone = false;
  await session.useData({ kind: 'address', address: '/data/mnist/' });
  await session.start();
  expect([trainings.length, session.history.step.value, weights]).toEqual([2, 1, 1]);
});
