// SPDX-License-Identifier: MIT
// The volunteer's page with a fake node and fake runners. It tests events that a browser cannot produce on demand.
import { afterEach, beforeEach, vi } from 'vitest';

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
  busy = false;
  stopped: number | false = false;
  constructor(readonly options: Options) {
    fake.nodes.push(this);
  }
  setThreads(threads: number) {
    this.used.push(threads);
  }
  start() {
    return new Promise(() => {});
  }
  isBusy = () => this.busy;
  announce(ability: Ability) {
    this.announced.push(ability);
  }
  async stop(seconds: number) {
    this.stopped = seconds;
  }
}
/** Values that a test sets, and records of the page's actions. */
export const fake = {
  nodes: [] as FakeNode[],
  /** Of measurements: their threads, and their times. */
  trainers: [] as number[],
  seconds: [] as number[],
  /** The result of a measurement. */
  measured: new Promise<number>(() => {}),
  fail: (_: Error): void => {},
  /** Counts bytes of blobs. */
  count: (_: number): void => {},
  signals: [] as (AbortSignal | null | undefined)[],
  offers: [] as ReturnType<typeof offer>[],
  /** Bytes of a node in an hour. */
  usual: 0,
  page: new EventTarget(),
};

vi.mock('../pool/node.js', () => ({ PoolNode: FakeNode }));
vi.mock('../src/volunteer/task_runner', () => ({ taskRunner: () => ({}) }));
vi.mock('../pool/page_runner.js', () => ({
  ThrottledRunner: class {},
  makeFetch: () => () => {},
  makeCachedFetch: (onBytes: typeof fake.count) => void (fake.count = onBytes),
  trainingRunner: (threads: number) => (
    fake.trainers.push(threads),
    {
      run: ({ measure }: { measure: number }) => (fake.seconds.push(measure), fake.measured),
      stop: () => fake.fail(new Error('stopped')),
    }
  ),
}));

export const offer = (name: string, task = {}) => ({
  project: 1,
  name,
  tasks: [{ task: 1, name: '', function: '', modules: true, open: 1, waits: '', done: 0, ...task }],
});
export const TRAINING = offer('training', { function: 'kaiseki.train', modules: false });

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  fake.nodes.length = 0;
  fake.signals = [];
  fake.trainers = [];
  fake.seconds = [];
  fake.offers = [TRAINING];
  fake.usual = 0;
  fake.measured = new Promise((_, reject) => (fake.fail = reject));
  fake.page = new EventTarget();
  vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }));
  vi.stubGlobal('navigator', { hardwareConcurrency: 4, userAgent: '' });
  vi.stubGlobal('crossOriginIsolated', true);
  vi.stubGlobal('addEventListener', fake.page.addEventListener.bind(fake.page));
  vi.stubGlobal('fetch', async (_: string, { signal }: RequestInit) => {
    fake.signals.push(signal);
    return Response.json({ projects: fake.offers, node_bytes_an_hour: fake.usual });
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

export async function open() {
  const { Volunteer } = await import('../src/volunteer/volunteer');
  const volunteer = new Volunteer();
  await vi.advanceTimersByTimeAsync(10);
  return volunteer;
}

export async function start() {
  const volunteer = await open();
  fake.measured = Promise.resolve(7);
  await volunteer.start();
  return { volunteer, node: fake.nodes[0], hear: fake.nodes[0].options.onEvent };
}

/** Storage that all pages share. */
export function withStorage() {
  const stored = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  });
}

/** A lock that all pages share. close() ends the page that has it. */
export function withLocks() {
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

type Page = Awaited<ReturnType<typeof open>>;

/** The errors that the card with the button shows. */
export async function alerts(volunteer: Page): Promise<string> {
  return (await part(volunteer, ({ texts }) => texts !== undefined)).texts.join(' ');
}

/** The text of the card with the button. */
export async function text(volunteer: Page): Promise<string> {
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
export async function part(volunteer: Page, has: (props: Record<string, any>) => boolean) {
  const { Switch } = await import('../src/volunteer/switch');
  const of = (one: any): any =>
    Array.isArray(one)
      ? one.map(of).find(Boolean)
      : one?.props && (has(one.props) ? one.props : of(one.props.children));
  return of(Switch({ volunteer }));
}
