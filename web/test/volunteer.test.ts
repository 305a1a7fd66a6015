// SPDX-License-Identifier: MIT
// The volunteer's page with a fake node and fake runners, for events that a browser cannot produce on demand.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

type Hear = (event: string, details: Record<string, unknown>) => void;
interface Ability {
  trainers: unknown[];
  info: { gflops: number; threads: number };
}
interface Options extends Ability {
  identity: { node?: string; key?: string };
  connect(): { send(message: Uint8Array): void } & EventTarget;
  onEvent: Hear;
}

class FakeNode {
  used: number[] = [];
  announced: Ability[] = [];
  stopped: number | false = false;
  constructor(readonly options: Options) {
    nodes.push(this);
  }
  setThreads(threads: number) {
    this.used.push(threads);
  }
  start() {
    return new Promise(() => {});
  }
  announce(ability: Ability) {
    this.announced.push(ability);
  }
  async stop(seconds: number) {
    this.stopped = seconds;
  }
}
const nodes: FakeNode[] = [];
let trainers: number[], seconds: number[]; // their threads, and the measuring times
let count: (bytes: number) => void;
let measured: Promise<number>, fail: (error: Error) => void, signals: (AbortSignal | null | undefined)[];

vi.mock('../pool/node.js', () => ({ PoolNode: FakeNode }));
vi.mock('../src/volunteer/task_runner', () => ({ taskRunner: () => ({}) }));
vi.mock('../pool/page_runner.js', () => ({
  ThrottledRunner: class {},
  makeFetch: () => () => {},
  makeCachedFetch: (onBytes: typeof count) => void (count = onBytes),
  trainingRunner: (threads: number) => (
    trainers.push(threads),
    {
      run: ({ measure }: { measure: number }) => (seconds.push(measure), measured),
      stop: () => fail(new Error('stopped')),
    }
  ),
}));

const offer = (name: string, task = {}) => ({
  project: 1,
  name,
  tasks: [{ task: 1, name: '', function: '', modules: true, open: 1, done: 0, ...task }],
});
const TRAINING = offer('training', { function: 'kaiseki.train', modules: false });
let offers: ReturnType<typeof offer>[];
let usual: number; // bytes of a node in an hour

let page: EventTarget;
beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  nodes.length = 0;
  signals = [];
  trainers = [];
  seconds = [];
  offers = [TRAINING];
  usual = 0;
  measured = new Promise((_, reject) => (fail = reject));
  page = new EventTarget();
  vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }));
  vi.stubGlobal('navigator', { hardwareConcurrency: 4, userAgent: '' });
  vi.stubGlobal('crossOriginIsolated', true);
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('fetch', async (_: string, { signal }: RequestInit) => {
    signals.push(signal);
    return Response.json({ projects: offers, node_bytes_an_hour: usual });
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

/** Storage that all pages share. */
function withStorage() {
  const stored = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  });
}

/** A lock that all pages share. close() ends the page that has it. */
function withLocks() {
  let held = false;
  const queue: (() => void)[] = [];
  const next = () => {
    held = false;
    queue.shift()?.();
  };
  vi.stubGlobal('BroadcastChannel', undefined);
  vi.stubGlobal('navigator', {
    hardwareConcurrency: 4,
    userAgent: '',
    locks: {
      request(_: string, { ifAvailable, signal }: LockOptions, use: (lock: unknown) => unknown) {
        const take = async () => {
          held = true;
          await use({});
          next();
        };
        if (!held) return take();
        if (ifAvailable) return Promise.resolve(use(null));
        return new Promise((resolve, reject) => {
          const waiting = () => resolve(take());
          queue.push(waiting);
          signal!.addEventListener('abort', () => {
            queue.splice(queue.indexOf(waiting), 1);
            reject(new Error('aborted'));
          });
        });
      },
    },
  });
  return { close: next };
}

/** The errors that the card with the button shows. */
async function alerts(volunteer: Awaited<ReturnType<typeof open>>): Promise<string> {
  return (await part(volunteer, ({ texts }) => texts !== undefined)).texts.join(' ');
}

/** The text of the card with the button. */
async function text(volunteer: Awaited<ReturnType<typeof open>>): Promise<string> {
  const { Switch } = await import('../src/volunteer/switch');
  const of = (one: any): string =>
    Array.isArray(one)
      ? one.map(of).join('')
      : one?.props
        ? typeof one.type === 'function' && !/Alert|Icon|Countdown/.test(one.type.name)
          ? of(one.type(one.props))
          : of(one.props.children)
        : typeof one === 'string'
          ? one
          : '';
  return of(Switch({ volunteer }));
}

/** The properties of the card's first part that satisfies `has`. */
async function part(volunteer: Awaited<ReturnType<typeof open>>, has: (props: Record<string, any>) => boolean) {
  const { Switch } = await import('../src/volunteer/switch');
  const of = (one: any): any =>
    Array.isArray(one)
      ? one.map(of).find(Boolean)
      : one?.props && (has(one.props) ? one.props : of(one.props.children));
  return of(Switch({ volunteer }));
}

test('limits the time of the request for projects', async () => {
  await open();
  expect(signals.length).toBeGreaterThan(0);
  expect(signals.every((signal) => signal instanceof AbortSignal)).toBe(true);
});

test('announces the speed, and no trainer when it cannot train', async () => {
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

test('measures and announces again when training starts later', async () => {
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

test('announces threads and speed when the slider rests', async () => {
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

test('stops a new measurement too', async () => {
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

test('counts the bytes of frames and blobs', async () => {
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

test('shows samples a second during training', async () => {
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

test('lists projects with work first', async () => {
  offers = [
    offer('through', { open: 0, done: 5 }),
    offer('for machines', { modules: false, function: 'f' }),
    offer('open'),
  ];
  vi.stubGlobal('location', { host: '' });
  const volunteer = await open();
  const { Offer } = await import('../src/volunteer/offer');
  const names = (one: any): string[] =>
    Array.isArray(one)
      ? one.flatMap(names)
      : one?.props?.project
        ? [one.props.project.name]
        : one?.props
          ? names(one.props.children)
          : [];
  expect(names(Offer({ volunteer }))).toEqual(['open', 'through', 'for machines']);
});

test('polls less often while the coordinator does not answer', async () => {
  await open();
  const asked = signals.length;
  vi.stubGlobal('fetch', async () => {
    signals.push(null);
    throw new Error('no answer');
  });
  await vi.advanceTimersByTimeAsync(100_000);
  expect(signals.length - asked).toBeLessThan(16);
  expect(signals.length - asked).toBeGreaterThan(8);
});

test('can stop during the measurement', async () => {
  const volunteer = await open(),
    starting = volunteer.start();
  expect(await text(volunteer)).toContain("Measuring this machine's speed");
  await volunteer.stop();
  await starting;
  expect(volunteer.problem.value).toBe('');
  expect(volunteer.phase.value).toBe('idle');
  expect(nodes).toEqual([]);
});

test('computes again when the browser restores the page', async () => {
  const { volunteer, node } = await start(),
    threads = volunteer.threads.value;
  page.dispatchEvent(new Event('pagehide'));
  expect(node.used.at(-1)).toBe(0);
  page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  expect(node.used.at(-1)).toBe(threads);
});

test('an expelled page stops and shows the reason', async () => {
  const { volunteer, node, hear } = await start();
  hear('joined', {});
  hear('waiting', { code: 4001, reason: 'a wrong result', seconds: 1 });
  await vi.advanceTimersByTimeAsync(10);
  expect(node.stopped).toBe(0.5);
  expect(volunteer.phase.value).toBe('idle');
  expect(await text(volunteer)).toContain('Not computing');
  expect(await alerts(volunteer)).toContain('expelled this page: a wrong result. It waits');
});

test('an expelled page does not come back at once, also after a reload, and then as a new node', async () => {
  withStorage();
  withLocks();
  const { volunteer, node, hear } = await start();
  Object.assign(node, { identity: { node: 'n', key: 'k' } });
  hear('joined', {});
  hear('waiting', { code: 4001, reason: 'a wrong result', seconds: 1 });
  await vi.advanceTimersByTimeAsync(10);
  await volunteer.start();
  expect(nodes.length).toBe(1);
  const again = await open();
  expect((await part(again, ({ class: name }) => /big/.test(name ?? ''))).disabled).toBe(true);
  expect(await alerts(again)).toContain('a wrong result');
  await again.start();
  expect(nodes.length).toBe(1);
  await vi.advanceTimersByTimeAsync(3_601_000);
  measured = Promise.resolve(7);
  await again.start();
  expect(nodes.at(-1)!.options.identity).toEqual({});
});

test('a reload keeps the totals and the identity', async () => {
  withStorage();
  withLocks();
  const { volunteer, node, hear } = await start();
  expect(node.options.identity).toEqual({});
  Object.assign(node, { identity: { node: 'n', key: 'k' } });
  hear('joined', {});
  hear('result', { verdict: 'accepted' });
  await vi.advanceTimersByTimeAsync(2000);
  page.dispatchEvent(new Event('pagehide'));
  await volunteer.stop();
  const again = await start();
  expect([again.volunteer.accepted.value, again.volunteer.seconds.value]).toEqual([1, 2]);
  expect(nodes.at(-1)!.options.identity).toEqual({ node: 'n', key: 'k' });
});

test('one tab computes: another follows, takes over when the first is closed, and Stop stops both', async () => {
  withStorage();
  const locks = withLocks();
  await start();
  const second = await open();
  void second.start();
  await vi.advanceTimersByTimeAsync(10);
  expect(nodes.length).toBe(1);
  expect(await text(second)).toContain('Another tab of this browser computes');
  locks.close(); // the first tab
  await vi.advanceTimersByTimeAsync(10);
  expect(nodes.length).toBe(2);
  const third = await open();
  void third.start();
  await vi.advanceTimersByTimeAsync(10);
  await third.stop();
  expect(third.phase.value).toBe('idle');
  await vi.advanceTimersByTimeAsync(10);
  expect(nodes.length).toBe(2);
});

test('says that the coordinator does not answer, though no packet has closed the connection', async () => {
  const { volunteer, hear } = await start();
  hear('joined', {});
  vi.stubGlobal('fetch', async () => {
    throw new Error('no answer');
  });
  await vi.advanceTimersByTimeAsync(5000);
  expect(await text(volunteer)).toContain('The coordinator does not answer');
  expect(nodes[0].options).toMatchObject({ silence: 30 });
});

test('pauses while somebody uses the machine, where the browser detects it', async () => {
  let detector: any;
  vi.stubGlobal(
    'IdleDetector',
    class extends EventTarget {
      static requestPermission = async () => 'granted';
      userState = 'active';
      screenState = 'unlocked';
      constructor() {
        super();
        detector = this;
      }
      async start() {}
    },
  );
  const { volunteer, node, hear } = await start();
  hear('joined', {});
  const { watchPresence } = await import('../src/volunteer/presence');
  expect(await watchPresence(true)).toBe(true);
  volunteer.change({ onlyUnused: true });
  expect(await text(volunteer)).toContain('Paused while somebody uses this machine');
  expect(node.used.at(-1)).toBe(0);
  detector.userState = 'idle';
  detector.dispatchEvent(new Event('change'));
  expect(node.used.at(-1)).toBe(2);
});

test('does not offer to detect use where the browser cannot', async () => {
  const { canDetectPresence, watchPresence } = await import('../src/volunteer/presence');
  expect([canDetectPresence(), await watchPresence(true)]).toEqual([false, false]);
});

test('shows what it computes for before the button, and no figures before the first start', async () => {
  const volunteer = await open();
  expect(await text(volunteer)).toMatch(/computes for training on .*Start computing/);
  expect(await text(volunteer)).not.toContain('Tickets done');
  offers = ['a', 'b', 'c', 'd', 'e'].map((name) => offer(name));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await text(volunteer)).toContain('a, b, c and 2 other projects');
});

test("shows the coordinator's reason for closing the connection", async () => {
  const { volunteer, node, hear } = await start();
  hear('waiting', { code: 1008, reason: 'expected fewer connections', seconds: 1 });
  expect(await text(volunteer)).toContain('closed the connection: expected fewer connections; trying again');
  hear('waiting', { code: 1006, reason: 'no connection', seconds: 1 });
  expect(await text(volunteer)).toContain('The coordinator does not answer; trying again');
  expect(node.stopped).toBe(false);
});

test("does not change the screen reader's text every second", async () => {
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

test('the consent text lists everything that is read', async () => {
  const said = await text(await open());
  for (const what of ['browser', 'operating system', 'number of threads', 'speed', 'name', 'battery'])
    expect(said).toContain(what);
});

test('estimates the traffic before the button, with the limits', async () => {
  const volunteer = await open();
  expect(await text(volunteer)).toMatch(/not known yet.*200 MB an hour and 1 GB a day.*Start computing/);
  usual = 14.8e9;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await text(volunteer)).toMatch(
    /about 14.8 GB an hour each.*after about 49 seconds of each hour.*Start computing/,
  );
  volunteer.change({ megabytesAnHour: 100_000 });
  expect(await text(volunteer)).not.toContain('of each hour');
  expect(nodes).toEqual([]);
});

/** Starts, and counts bytes as a node does that sends and receives frames. */
async function connected() {
  class Socket extends EventTarget {
    send() {}
  }
  vi.stubGlobal('location', { origin: 'http://127.0.0.1' });
  vi.stubGlobal('WebSocket', Socket);
  const { volunteer, node, hear } = await start();
  hear('joined', {});
  const socket = node.options.connect();
  const hears = (bytes: number) =>
    socket.dispatchEvent(new MessageEvent('message', { data: { byteLength: bytes } as ArrayBuffer }));
  return { volunteer, node, socket, hears };
}

test('stops at the limit of an hour, also after a reload and in other tabs, and goes on afterwards', async () => {
  withStorage();
  const { volunteer, node, hears } = await connected();
  hears(150e6);
  expect(node.used.at(-1)).toBe(2);
  count(48e6);
  expect(node.used.at(-1)).toBe(0);
  expect(await text(volunteer)).toMatch(/Paused until \d\d:\d\d: the limit of bytes is reached/);
  expect((node.options as any).maySend(1e6)).toBe(true);
  expect((node.options as any).maySend(3e6)).toBe(false);
  expect(() => count(2e6)).toThrow('the limit of bytes is reached');
  page.dispatchEvent(new Event('pagehide'));
  const again = await open();
  expect(again.paused.value).toContain('the limit of bytes');
  await vi.advanceTimersByTimeAsync(71 * 60_000);
  expect(again.paused.value).toBe('');
  expect(node.used.at(-1)).toBe(2);
});

test('a lower limit applies at once, and so does that of a day', async () => {
  const { volunteer, node, hears } = await connected();
  hears(60e6);
  volunteer.change({ megabytesAnHour: 50 });
  expect(node.used.at(-1)).toBe(0);
  volunteer.change({ megabytesAnHour: 500 });
  expect(node.used.at(-1)).toBe(2);
  volunteer.change({ megabytesADay: 60 });
  await vi.advanceTimersByTimeAsync(2 * 3_600_000);
  expect(node.used.at(-1)).toBe(0);
});

test('pauses on a metered connection and while data saving is on, and loads nothing', async () => {
  const connection = Object.assign(new EventTarget(), { saveData: true, type: 'wifi' });
  vi.stubGlobal('navigator', { hardwareConcurrency: 4, userAgent: '', connection });
  const { volunteer, node, hear } = await (async () => {
    const { watchConnection } = await import('../src/volunteer/connection');
    watchConnection();
    return start();
  })();
  hear('joined', {});
  expect(await text(volunteer)).toContain('Paused while the connection is metered or data saving is on');
  expect([seconds, node.used.at(-1)]).toEqual([[], 0]);
  connection.saveData = false;
  connection.dispatchEvent(new Event('change'));
  await vi.advanceTimersByTimeAsync(3000);
  expect([seconds, node.used.at(-1)]).toEqual([[2], 2]);
  connection.type = 'cellular';
  connection.dispatchEvent(new Event('change'));
  expect(node.used.at(-1)).toBe(0);
  volunteer.change({ onMetered: true });
  expect(node.used.at(-1)).toBe(2);
});
