// SPDX-License-Identifier: MIT
// The volunteer's page with a node and runners that do what a test says: what a browser does not do at will.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

type Hear = (event: string, details: Record<string, unknown>) => void;
interface Ability { trainers: unknown[]; info: { gflops: number; threads: number } }
interface Options extends Ability { connect(): { send(message: Uint8Array): void } & EventTarget; onEvent: Hear }

class FakeNode {
  used: number[] = [];
  announced: Ability[] = [];
  stopped: number | false = false;
  constructor(readonly options: Options) { nodes.push(this); }
  use(threads: number) { this.used.push(threads); }
  start() { return new Promise(() => {}); }
  announce(ability: Ability) { this.announced.push(ability); }
  async stop(seconds: number) { this.stopped = seconds; }
}
const nodes: FakeNode[] = [];
let trainers: number[], seconds: number[];  // their threads, and how long they were measured
let count: (bytes: number) => void;
let measured: Promise<number>, fail: (error: Error) => void, signals: (AbortSignal | null | undefined)[];

vi.mock('../pool/node.js', () => ({ PoolNode: FakeNode }));
vi.mock('../pool/page_runner.js', () => ({
  RestingRunner: class {},
  makeFetch: () => () => {}, makeKeepingFetch: (onBytes: typeof count) => void (count = onBytes),
  taskRunner: () => ({}),
  trainingRunner: (threads: number) => (trainers.push(threads), { run: ({ measure }: { measure: number }) => (seconds.push(measure), measured), stop: () => fail(new Error('stopped')) }),
}));

const offer = (name: string, task = {}) =>
  ({ project: 1, name, tasks: [{ task: 1, name: '', function: '', modules: true, open: 1, done: 0, ...task }] });
const TRAINING = offer('training', { function: 'kaiseki.train', modules: false });
let offers: ReturnType<typeof offer>[];

let page: EventTarget;
beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  nodes.length = 0;
  signals = [];
  trainers = [];
  seconds = [];
  offers = [TRAINING];
  measured = new Promise((_, reject) => (fail = reject));
  page = new EventTarget();
  vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }));
  vi.stubGlobal('navigator', { hardwareConcurrency: 4, userAgent: '' });
  vi.stubGlobal('crossOriginIsolated', true);
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('fetch', async (_: string, { signal }: RequestInit) => {
    signals.push(signal);
    return Response.json(offers);
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function open() {
  const { Volunteer } = await import('../src/volunteer/volunteer');
  const volunteer = new Volunteer();
  await vi.advanceTimersByTimeAsync(10);
  return volunteer;
}

async function start() {
  const volunteer = await open();
  measured = Promise.resolve(7);
  await volunteer.start();
  return { volunteer, node: nodes[0], hear: nodes[0].options.onEvent };
}

/** Everything that the plate of the button says. */
async function text(volunteer: Awaited<ReturnType<typeof open>>): Promise<string> {
  const { Switch } = await import('../src/volunteer/switch');
  const of = (one: any): string => (Array.isArray(one) ? one.map(of).join('') : one?.props ? of(one.props.children) : typeof one === 'string' ? one : '');
  return of(Switch({ volunteer }));
}

/** The first part of that plate that has such properties: they. */
async function part(volunteer: Awaited<ReturnType<typeof open>>, has: (props: Record<string, any>) => boolean) {
  const { Switch } = await import('../src/volunteer/switch');
  const of = (one: any): any => (Array.isArray(one) ? one.map(of).find(Boolean) : one?.props && (has(one.props) ? one.props : of(one.props.children)));
  return of(Switch({ volunteer }));
}

test('what there is to compute is not waited for for ever', async () => {
  await open();
  expect(signals.length).toBeGreaterThan(0);
  expect(signals.every((signal) => signal instanceof AbortSignal)).toBe(true);
});

test('the speed is told; a page that cannot train does not say that it can', async () => {
  const { node } = await start();
  expect(node.options).toMatchObject({ trainers: [{}], info: { gflops: 7 } });
  expect(seconds).toEqual([2]);
  const other = await open();
  measured = Promise.reject(new Error('no memory'));
  await other.start();
  expect(nodes[1].options).toMatchObject({ trainers: [], info: { gflops: 0 } });
  expect(other.problem.value).toBe('no memory');
  nodes[1].options.onEvent('joined', {});
  expect(other.problem.value).toBe('no memory');
});

test('where training begins after the press, the page measures itself then, and says so', async () => {
  offers = [offer('primes')];
  const { volunteer, node, hear } = await start();
  expect(node.options).toMatchObject({ trainers: [{}], info: { gflops: 0 } });
  hear('joined', {});
  await vi.advanceTimersByTimeAsync(10_000);
  expect(node.announced).toEqual([]);
  measured = Promise.resolve(7);
  offers = [offer('primes'), TRAINING];
  await vi.advanceTimersByTimeAsync(10_000);
  expect(node.announced).toMatchObject([{ trainers: [{}], info: { gflops: 7 } }]);
  const threads = volunteer.threads.value;
  expect(node.used).toEqual([threads, 0, threads]);
});

test('another number of threads is told when the slider rests, with the speed that they have', async () => {
  const { volunteer, node, hear } = await start();
  hear('joined', {});
  measured = Promise.resolve(9);
  for (const threads of [1, 3, 4, 3]) {
    volunteer.change({ threads });
    await vi.advanceTimersByTimeAsync(1000);
  }
  await vi.advanceTimersByTimeAsync(10_000);
  expect(node.announced).toMatchObject([{ trainers: [{}], info: { gflops: 9, threads: 3 } }]);
  expect(trainers).toEqual([2, 3]);
  expect(node.used.at(-1)).toBe(3);
});

test('to stop while it measures itself anew ends both', async () => {
  const { volunteer, node, hear } = await start();
  hear('joined', {});
  measured = new Promise((_, reject) => (fail = reject));
  volunteer.change({ threads: 1 });
  await vi.advanceTimersByTimeAsync(3000);
  expect(trainers).toEqual([2, 1]);
  await volunteer.stop();
  await vi.advanceTimersByTimeAsync(10);
  expect([node.announced, volunteer.problem.value, volunteer.phase.value]).toEqual([[], '', 'idle']);
});

test('bytes are those of frames, both ways, and of blobs', async () => {
  class Socket extends EventTarget {
    send() {}
  }
  vi.stubGlobal('location', { origin: 'http://127.0.0.1' });
  vi.stubGlobal('WebSocket', Socket);
  const { volunteer, node } = await start();
  const socket = node.options.connect();
  socket.send(new Uint8Array(10));
  socket.send(new Uint8Array(1));
  socket.dispatchEvent(new MessageEvent('message', { data: new ArrayBuffer(7) }));
  count(500);
  expect([volunteer.sent.value, volunteer.received.value]).toEqual([11, 507]);
});

test('samples a second are those of training, while there is some', async () => {
  const { volunteer, hear } = await start();
  hear('joined', {});
  hear('result', { verdict: 'accepted' });
  await vi.advanceTimersByTimeAsync(2000);
  expect(await text(volunteer)).not.toContain('Samples/s');
  for (let i = 0; i < 20; ++i) {
    hear('result', { verdict: 'accepted', samples: 32 });
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(volunteer.samplesRate.value).toBeGreaterThan(25);
  expect(volunteer.samplesRate.value).toBeLessThan(40);
  expect(await text(volunteer)).toContain('Samples/s');
  await vi.advanceTimersByTimeAsync(40_000);
  expect(volunteer.samplesRate.value).toBe(0);
  await volunteer.stop();
  expect(volunteer.samples.value).toBe(640);
});

test('projects with work come first', async () => {
  offers = [offer('through', { open: 0, done: 5 }), offer('for machines', { modules: false, function: 'f' }), offer('open')];
  vi.stubGlobal('location', { host: '' });
  const volunteer = await open();
  const { Offer } = await import('../src/volunteer/offer');
  const names = (one: any): string[] =>
    Array.isArray(one) ? one.flatMap(names) : one?.props?.project ? [one.props.project.name] : one?.props ? names(one.props.children) : [];
  expect(names(Offer({ volunteer }))).toEqual(['open', 'through', 'for machines']);
});

test('pages that the coordinator does not answer ask less often', async () => {
  await open();
  const asked = signals.length;
  vi.stubGlobal('fetch', async () => { signals.push(null); throw new Error('no answer'); });
  await vi.advanceTimersByTimeAsync(100_000);
  expect(signals.length - asked).toBeLessThan(16);
  expect(signals.length - asked).toBeGreaterThan(8);
});

test('to stop while the speed is measured is no problem', async () => {
  const volunteer = await open(), starting = volunteer.start();
  expect(await text(volunteer)).toContain('Measuring this machine\'s speed');
  await volunteer.stop();
  await starting;
  expect(volunteer.problem.value).toBe('');
  expect(volunteer.phase.value).toBe('idle');
  expect(nodes).toEqual([]);
});

test('a page that comes back from the browser\'s memory computes again', async () => {
  const { volunteer, node } = await start(), threads = volunteer.threads.value;
  page.dispatchEvent(new Event('pagehide'));
  expect(node.used.at(-1)).toBe(0);
  page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  expect(node.used.at(-1)).toBe(threads);
});

test('a page that was put out stops, and says why', async () => {
  const { volunteer, node, hear } = await start();
  hear('joined', {});
  hear('waiting', { code: 1008, reason: 'the node was expelled: a wrong result', seconds: 1 });
  await vi.advanceTimersByTimeAsync(10);
  expect(node.stopped).toBe(0.5);
  expect(volunteer.phase.value).toBe('idle');
  expect(volunteer.problem.value).toMatch(/put this page out: a wrong result/);
});

test('why a connection ended is shown where the coordinator says it', async () => {
  const { volunteer, node, hear } = await start();
  hear('waiting', { code: 1008, reason: 'expected fewer connections', seconds: 1 });
  expect(await text(volunteer)).toContain('ended the connection: expected fewer connections; trying again');
  hear('waiting', { code: 1006, reason: 'no connection', seconds: 1 });
  expect(await text(volunteer)).toContain('The coordinator does not answer; trying again');
  expect(node.stopped).toBe(false);
});

test('what a screen reader says does not change each second', async () => {
  const { volunteer, hear } = await start();
  const said = async () => (await part(volunteer, ({ role }) => role === 'status')).children;
  const countdown = async () => (await part(volunteer, ({ seconds }) => seconds !== undefined))?.seconds;
  expect(await countdown()).toBeUndefined();
  hear('waiting', { code: 1006, reason: '', seconds: 20 });
  const first = await countdown();
  for (const passed of [0, 5]) {
    await vi.advanceTimersByTimeAsync(1000 * passed);
    expect(await said()).toBe('The coordinator does not answer; trying again');
    expect(await countdown()).toBe(first - passed);
  }
});

test('consent names all that is read', async () => {
  const said = await text(await open());
  for (const what of ['browser', 'operating system', 'number of threads', 'speed', 'name', 'battery']) expect(said).toContain(what);
});
