// SPDX-License-Identifier: MIT
// The playground without its library: the requests to the worker, and the effect of the answers on the state.
import { afterEach, expect, test, vi } from 'vitest';
import { Learner, type Port } from '../src/playground/learner';
import type { Answer, Request } from '../src/playground/messages';
import { DigitsState, rebuilt } from '../src/playground/digits-state';
import { PlaneState } from '../src/playground/plane-state';

class FakeWorker implements Port {
  onmessage: Port['onmessage'] = null;
  onerror: Port['onerror'] = null;
  readonly asked: Request[] = [];

  postMessage(request: Request): void {
    this.asked.push(request);
  }
  answer(answer: Answer): void {
    this.onmessage!.call(this as never, { data: answer } as MessageEvent);
  }
  /** Answers the newest request, or an older one. */
  draw(side: number, last: boolean, request = this.asked.at(-1)!): void {
    const empty = new Uint8Array();
    this.answer({
      id: request.id,
      last,
      kind: 'plane',
      fitted: { score: 1, milliseconds: 1, centers: new Float32Array(), ellipses: [], clusters: new Int32Array() },
      drawing: { field: { side, classes: empty, strengths: empty }, boundary: [], margin: [] },
    });
  }
  get planes() {
    return this.asked.flatMap((request) => (request.kind === 'plane' ? [request.plane] : []));
  }
}

function start() {
  const worker = new FakeWorker(),
    learner = new Learner(worker);
  return { worker, learner, state: new PlaneState(learner) };
}

afterEach(() => vi.unstubAllGlobals());

test('draws coarsely, then finely', () => {
  const { worker, state } = start();
  expect(worker.planes.length).toBe(1);
  worker.draw(64, false);
  expect(state.drawing.value!.field.side).toBe(64);
  worker.draw(192, true);
  expect(state.drawing.value!.field.side).toBe(192);
});

test('of the changes during a request only the last one is computed', () => {
  const { worker, state } = start();
  for (let i = 0; i < 5; ++i) state.use({ x: i / 10, y: 0 });
  expect(worker.planes.length).toBe(1);
  const [first] = worker.asked;
  worker.draw(64, false);
  expect(worker.planes.length).toBe(2);
  expect(worker.planes[1].labels.length).toBe(165);
  // The older request's fine drawing arrives late, and is not shown.
  worker.draw(192, true, first);
  expect(state.drawing.value!.field.side).toBe(64);
});

test('each change is a request with the settings of the library', () => {
  const { worker, state } = start();
  const next = () => {
    worker.draw(64, true);
    return worker.planes.at(-1)!;
  };
  next();
  state.set('C', 2);
  expect(next().settings).toEqual({ kernel: 'rbf', C: 100, gamma: 3.16 });
  state.name.value = 'KMeans';
  expect(next()).toMatchObject({ name: 'KMeans', clusters: true, settings: { n_clusters: 3, n_init: 3, seed: 0 } });
  state.name.value = 'SVC';
  expect(next().settings).toMatchObject({ C: 100 });
  state.preset('blobs');
  expect(next().labels.length).toBe(150);
});

test('says what is missing instead of a request', () => {
  const { worker, state } = start();
  worker.draw(64, true);
  state.clear();
  expect(state.lack.value).toMatch(/two classes/);
  expect(state.drawing.value).toBeNull();
  expect(worker.planes.length).toBe(1);
  expect(state.use({ x: 0, y: 0 })).toBe('Added a point of class 1, 1 in all.');
  state.tool.value = 2;
  expect(state.use({ x: 1, y: 0 })).toBe('Added a point of class 3, 2 in all.');
  expect(worker.planes.length).toBe(2);
  state.tool.value = 'eraser';
  expect(state.use({ x: 0.5, y: 0 })).toBe('There is no point here.');
  expect(state.use({ x: 0.95, y: 0 })).toBe('Removed a point, 1 left.');
});

test('the answer to points that were cleared is not shown', () => {
  const { worker, state } = start();
  state.clear();
  worker.draw(64, true);
  expect(state.drawing.value).toBeNull();
});

test('the plane has a limit', () => {
  const { state } = start();
  for (let i = 0; i < 440; ++i) state.use({ x: 0, y: 0 });
  expect(state.points.value.length).toBe(600);
  expect(state.use({ x: 0, y: 0 })).toBe('The plane is full: 600 points.');
  expect(state.points.value.length).toBe(600);
});

test('shows an error of the library, and continues', () => {
  const { worker, state } = start();
  worker.answer({ id: worker.asked[0].id, last: true, kind: 'failed', message: '[SVC] wrong' });
  expect(state.problem.value).toBe('[SVC] wrong');
  state.preset('xor');
  expect(worker.planes.length).toBe(2);
  worker.draw(64, true);
  expect(state.problem.value).toBe('');
});

test('a failed worker is an error of each request', async () => {
  const { worker, learner, state } = start();
  const digits = learner.digits(10);
  worker.onerror!.call(worker as never, { message: '' } as ErrorEvent);
  await expect(digits).rejects.toThrow('The worker has failed');
  expect(state.problem.value).toMatch(/The worker has failed/);
});

const PICTURES = { images: Uint8Array.of(0, 255, 255, 0), labels: Int32Array.of(4, 7), shape: [2, 1, 2] as [2, 1, 2] };
const COMPONENTS = {
  pictures: Float32Array.of(1, -1, 0, 1),
  mean: Float32Array.of(0.5, 0.5),
  ratios: Float32Array.of(1, 0),
  places: Float32Array.of(-0.5, 0, 0.25, 0.125),
  milliseconds: 1,
};

async function openDigits() {
  vi.stubGlobal('fetch', async () => ({ ok: false }));
  const worker = new FakeWorker(),
    state = new DigitsState(new Learner(worker));
  state.open();
  state.open();
  const answer = async (answer: object) => {
    await vi.waitFor(() => expect(worker.asked.length).toBeGreaterThan(0));
    worker.answer({ id: worker.asked.shift()!.id, last: true, ...answer } as Answer);
  };
  return { worker, state, answer };
}

test('loads the built-in digits once, and their components', async () => {
  const { worker, state, answer } = await openDigits();
  expect(worker.asked.length).toBe(1);
  expect(state.busy.value).toBe(true);
  await answer({ kind: 'digits', pictures: PICTURES });
  await answer({ kind: 'components', components: COMPONENTS });
  await vi.waitFor(() => expect(state.busy.value).toBe(false));
  expect(state.places.value.length).toBe(2);
  expect([...state.middles.value.keys()]).toEqual([4, 7]);
});

test('a picture from its components stays between black and white', () => {
  expect(Array.from(rebuilt(COMPONENTS, 0))).toEqual([0, 1]);
  expect(Array.from(rebuilt(COMPONENTS, 1))).toEqual([0.75, 0.375]);
});

test('the last choice wins, also if an earlier one fails later', async () => {
  const { worker, state, answer } = await openDigits();
  const served = state.use('served');
  expect(state.origin.value).toBe('served');
  const again = state.use('built-in');
  await served;
  expect(state.problem.value).toBe('');
  for (let i = 0; i < 2; ++i) await answer({ kind: 'digits', pictures: PICTURES });
  for (let i = 0; i < 2; ++i) await answer({ kind: 'components', components: COMPONENTS });
  await again;
  expect([state.origin.value, state.busy.value, worker.asked.length]).toEqual(['built-in', false, 0]);
});

test('wrong files are an error, and the pictures stay', async () => {
  const { state, answer } = await openDigits();
  await answer({ kind: 'digits', pictures: PICTURES });
  await answer({ kind: 'components', components: COMPONENTS });
  await vi.waitFor(() => expect(state.busy.value).toBe(false));
  await state.use('files', [new File([], 'cats.png')]);
  expect(state.problem.value).toMatch(/expected train-images.*got cats.png/);
  await state.use('served');
  expect(state.problem.value).toMatch(/This server has no MNIST/);
  expect(state.pictures.value).toBe(PICTURES);
  expect(state.origin.value).toBe('built-in');
});
