// SPDX-License-Identifier: MIT
// The session: its actions, and their errors.
import { expect, test, vi } from 'vitest';
import { eventually, fake, live, session, step } from './session_library';

test('starts, pauses and resumes the same training, and changes its learning rate', async () => {
  await session.start();
  const [training] = fake.libraries[0].trainings;
  training.options.onStep!(step(7));
  await session.pause();
  expect([session.phase.value, training.paused, session.history.step.value]).toEqual(['paused', true, 7]);
  session.setLearningRate(0.5);
  expect(training.learningRate).toBe(0.5);
  await session.start();
  expect([session.phase.value, training.paused, fake.libraries[0].trainings.length]).toEqual(['running', false, 1]);
});

test('keeps the step count when the optimizer changes', async () => {
  await session.start();
  fake.libraries[0].trainings[0].options.onStep!(step(40));
  await session.pause();
  await session.setOptimizer('adam', 0.001);
  expect(fake.libraries[0].trainings[0].options.signal!.aborted).toBe(true);
  await session.start();
  fake.libraries[0].trainings[1].options.onStep!(step(2));
  await session.pause();
  expect(session.history.step.value).toBe(42);
});

test('shows the error that ends training, and can start again', async () => {
  await session.start();
  fake.libraries[0].trainings[0].fail(new Error('[memory] expected room'));
  await eventually(() => expect(session.problems.value.training).toBe('[memory] expected room'));
  expect(session.phase.value).toBe('ready');
  await session.start();
  expect([session.phase.value, session.problems.value.training]).toEqual(['running', '']);
});

test('reports that the worker ended, and loads another', async () => {
  await session.start();
  fake.libraries[0].die(new Error('the worker has ended'));
  await eventually(() => expect(session.phase.value).toBe('broken'));
  expect(session.problems.value.engine).toBe('the worker has ended');
  await session.open();
  expect([session.phase.value, session.problems.value.engine, fake.libraries.length]).toEqual(['ready', '', 2]);
});

test('keeps the old network when a new one is rejected', async () => {
  const before = session.network.value;
  await session.useNetwork('bad');
  expect(session.network.value).toBe(before);
  expect(session.problems.value.network).toBe('network: line 1: expected a value');
  expect(session.phase.value).toBe('ready');
});

test('rejects a network whose steps would take minutes', async () => {
  fake.work = 15.5e9; // VGG-16
  await session.useNetwork('{}');
  expect(session.problems.value.network).toBe('');
  const before = session.network.value;
  fake.work = 1.2e11;
  await session.useNetwork('{}');
  expect(session.problems.value.network).toMatch(
    /^\[network\] expected at most 100G operations for a picture, .*, got 120G: /,
  );
  expect([session.network.value, fake.libraries[0].drawn]).toEqual([before, 2]);
});

test('keeps the weights that come with a network', async () => {
  await session.useNetwork('learnt');
  expect(fake.libraries[0].drawn).toBe(1);
  await session.useNetwork('{}');
  expect(fake.libraries[0].drawn).toBe(2);
});

test('clears a training error when a network or data is loaded', async () => {
  for (const next of [() => session.useNetwork('{}'), () => session.useData({ kind: 'digits' })]) {
    await session.start();
    fake.libraries[0].trainings.at(-1)!.fail(new Error('[memory] expected room'));
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

test('keeps weights and steps when the number of threads changes', async () => {
  await session.start();
  fake.libraries[0].trainings[0].options.onStep!(step(5));
  await session.pause();
  await session.open(4);
  expect([
    session.threads.value,
    fake.libraries[0].closedByPage,
    session.phase.value,
    session.history.step.value,
  ]).toEqual([4, true, 'paused', 5]);
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
  fake.libraries[0].trainings[0].options.onStep!(step(5));
  await session.pause();
  fake.libraries[0].weights = new Uint8Array([7, 8]);
  fake.gone = true;
  await session.open(4);
  expect([...fake.libraries[1].weights]).toEqual([7, 8]);
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
  expect([session.phase.value, fake.libraries[1].trainings.length]).toEqual(['paused', 0]);
});

test('can pause training while data loads, and continues after a cancel', async () => {
  await session.start();
  fake.stalled = true;
  const loaded = session.useData({ kind: 'files', files });
  await eventually(() => expect(session.loading.value).not.toBeNull());
  await session.pause();
  expect([session.phase.value, fake.libraries[0].trainings[0].paused, session.busy.value]).toEqual([
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
  expect([session.phase.value, fake.libraries[0].trainings.length]).toEqual(['running', 1]);
});

test('newer data replaces data that is loading or waiting', async () => {
  fake.stalled = true;
  void session.useData({ kind: 'files', files });
  await eventually(() => expect(session.loading.value).not.toBeNull());
  void session.useData({ kind: 'files', files });
  await session.useData({ kind: 'digits' });
  expect([session.notice.value, session.problems.value.data]).toEqual(['Data ready: Built-in digits', '']);
});

test('newer data replaces data whose network is being made', async () => {
  fake.stalled = true;
  const made = new Promise<void>((resolve) => (fake.builds = resolve));
  void session.useData({ kind: 'files', files });
  await made;
  await session.useData({ kind: 'digits' });
  expect([session.notice.value, session.problems.value.data]).toEqual(['Data ready: Built-in digits', '']);
});

test('does not show a failed training as paused', async () => {
  await session.start();
  const [training] = fake.libraries[0].trainings;
  training.pause = async () => {
    training.fail(new Error('[memory] expected room'));
    await eventually(() => expect(session.problems.value.training).toBe('[memory] expected room'));
  };
  await session.pause();
  expect([session.phase.value, session.notice.value]).toEqual(['ready', 'Training has stopped']);
});

test('tests with the first 2,000 pictures', async () => {
  fake.pictures = 3000;
  await session.useData({ kind: 'files', files });
  const { train, test } = session.data.value!;
  expect([train.images.shape[0], test.images.shape[0], test.labels.shape[0]]).toEqual([3000, 2000, 2000]);
});

test.each([
  [3000, 60],
  [20000, 100],
])('with %i pictures, tests after every %i steps', async (count, between) => {
  fake.pictures = count;
  session.setBatchSize(50);
  await session.useData({ kind: 'files', files });
  await session.start();
  for (const [at, tests] of [
    [between - 1, 0],
    [between, 1],
    [2 * between - 1, 1],
    [2 * between, 2],
  ]) {
    fake.libraries[0].trainings[0].options.onStep!(step(at));
    await eventually(() => expect([session.history.step.value, fake.libraries[0].tests]).toEqual([at, tests]));
  }
});

test('discards an evaluation of replaced weights', async () => {
  let release = (): void => undefined;
  fake.held = new Promise((resolve) => (release = resolve));
  await session.start();
  fake.libraries[0].trainings[0].options.onStep!(step(60));
  await eventually(() => expect(fake.libraries[0].tests).toBe(1));
  await session.reset();
  const loaded = session.loadWeights(new Blob(['{}']));
  await eventually(() => expect(fake.libraries[0].tests).toBe(2));
  expect(session.history.test.value).toBeNull();
  release();
  await loaded;
  expect(session.history.test.value!.accuracy).toBe(0.2);
  await session.reset();
  expect(session.history.test.value).toBeNull();
});

test('frees the optimizer after a failed step', async () => {
  const optimizers = vi.spyOn(fake.libraries[0], 'optimizer');
  await session.start();
  fake.libraries[0].trainings[0].fail(new Error('[memory] expected room'));
  await eventually(() => expect(session.problems.value.training).toBe('[memory] expected room'));
  await session.start();
  expect(optimizers).toHaveBeenCalledTimes(2);
});

test('keeps the weights until a library can be loaded', async () => {
  fake.libraries[0].weights = new Uint8Array([9]);
  fake.offline = true;
  await session.open(4);
  expect([session.phase.value, session.problems.value.engine]).toEqual([
    'broken',
    '[load] expected the module, got none',
  ]);
  fake.offline = false;
  await session.open();
  expect([...fake.libraries[1].weights]).toEqual([9]);
  expect(session.phase.value).toBe('ready');
});

test('keeps the library when its weights cannot be saved', async () => {
  session.network.value!.saveWeights = async () => {
    throw new Error('[memory] expected room');
  };
  await session.open(4);
  expect([session.problems.value.engine, session.phase.value, fake.libraries.length]).toEqual([
    '[memory] expected room',
    'ready',
    1,
  ]);
  expect(fake.libraries[0].closedByPage).toBe(false);
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
  const failure = Promise.reject(new Error('[memory] expected room'));
  const afterwards = failure.catch(() => new Promise((resolve) => setTimeout(resolve))); // the session has the failure
  let late: Promise<unknown> | undefined;
  network.predict = () => failure;
  network.activations = (...names) =>
    (late = afterwards.then(() => activations(...names))) as ReturnType<typeof activations>;
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
  fake.readable = 1;
  await fails('[data] expected the file, got none');
  fake.readable = Infinity;
  for (fake.room of [0, 1]) await fails('[memory] expected room');
});
