// SPDX-License-Identifier: MIT
// A page that computes for the pool: only between start() and stop(), and within the settings.
import { batch, computed, effect, signal, untracked, type Signal } from '@preact/signals';
import { lendThreads } from 'kaiseki';
import { expelledCode } from '../../pool/frame.js';
import { PoolNode, type TaskRunner } from '../../pool/node.js';
import { ThrottledRunner, makeFetch, makeCachedFetch, trainingRunner } from '../../pool/page_runner.js';
import { trainingFunction } from '../../pool/training.js';
import { backoffDelay } from '../logic/backoff';
import { Rate } from '../logic/rate';
import { Tabs, hasLocks, lead } from './leader';
import { metered } from './connection';
import {
  MEMORY_KEY,
  TRAFFIC_KEY,
  keepMemory,
  keepTraffic,
  loadMemory,
  readMemory,
  readTraffic,
  type Expulsion,
  type Totals,
} from './memory';
import { onBattery } from './power';
import { inUse, watchPresence } from './presence';
import { keepSettings, loadSettings, type Settings } from './settings';
import { taskRunner } from './task_runner';
import { addBytes, freeAt, leftBytes, type Part } from './traffic';

/** Following: another tab of this browser computes. */
export type Phase = 'idle' | 'following' | 'measuring' | 'joining' | 'joined' | 'waiting' | 'stopping';

export interface TaskCounts {
  task: number;
  name: string;
  function: string;
  modules: boolean;
  open: number;
  /** The reason why no ticket can finish now. Empty: tickets can finish. */
  waits: string;
  done: number;
}
export interface Offered {
  project: number;
  name: string;
  tasks: TaskCounts[];
}
/** The coordinator's public list. */
interface Offers {
  projects: Offered[];
  /** The bytes that a working node sends and receives in an hour. 0: not known. */
  node_bytes_an_hour: number;
}

/** The abilities that a node announces. */
interface Ability {
  trainers: TaskRunner[];
  info: { name: string; device: string; threads: number; gflops: number; memory_bytes: number };
}

/** Whether pages can compute the task. */
export const runsInPages = (task: TaskCounts): boolean => task.modules || task.function === trainingFunction;

const isOpen = (task: TaskCounts): boolean => runsInPages(task) && task.open > 0;

export const hasWork = ({ tasks }: Offered): boolean => tasks.some(isOpen);

const OFFER_MILLISECONDS = 2500;
const ANSWER_MILLISECONDS = 5000; // time-out of the coordinator's answer
const STOP_SECONDS = 0.5;
const MEASURE_SECONDS = 2;
const SILENCE_SECONDS = 30; // then the coordinator counts as away
const EXPELLED_MILLISECONDS = 3_600_000;
/** The page pauses before a limit of bytes is reached, because some bytes are still in transit. */
const RESERVED_BYTES = 2e6;

/** In bytes. A browser that hides it counts as one with 4 GiB. */
const MEMORY = 2 ** 30 * ((navigator as { deviceMemory?: number }).deviceMemory ?? 4);
export const CORES = navigator.hardwareConcurrency || 1;

export class Volunteer {
  readonly settings = signal<Settings>(loadSettings(CORES));
  readonly phase = signal<Phase>('idle');
  readonly hidden = signal(document.hidden);
  /** Null: not yet known, or the coordinator does not answer. */
  readonly offered = signal<Offered[] | null>(null);
  /** The bytes that a working node sends and receives in an hour. 0: not known. */
  readonly usualTraffic = signal(0);
  /** The bytes of the last day, of all tabs. */
  readonly traffic = signal<Part[]>([]);
  /** Totals of this browser, of all visits. */
  readonly done = signal(0);
  readonly accepted = signal(0);
  readonly failed = signal(0);
  readonly received = signal(0);
  readonly sent = signal(0);
  /** Tickets a minute. */
  readonly rate = signal(0);
  /** The number of training samples in total, and per second. */
  readonly samples = signal(0);
  readonly samplesRate = signal(0);
  readonly seconds = signal(0);
  /** Whether a ticket was computed or queued at the last tick. */
  readonly busy = signal(false);
  readonly problem = signal('');
  readonly retryAt = signal(0);
  /** The coordinator's reason for closing the connection. Empty: it gave none. */
  readonly reason = signal('');
  readonly now = signal(Date.now());
  /** Null: the coordinator has not expelled this page lately. */
  readonly expulsion = signal<Expulsion | null>(null);

  /** The time from which bytes may be sent and received, in milliseconds since 1970. */
  #nextBytes = computed(() => freeAt(this.traffic.value, this.settings.value, RESERVED_BYTES, this.now.value));
  /** The reason why computing is paused. Empty: it is not paused. */
  readonly paused = computed(() => {
    if (this.hidden.value && !this.settings.value.whenHidden) return 'while this page is hidden';
    if (onBattery.value && !this.settings.value.onBattery) return 'while the machine runs on battery';
    if (this.settings.value.onlyUnused && inUse.value) return 'while somebody uses this machine';
    if (metered.value && !this.settings.value.onMetered) return 'while the connection is metered or data saving is on';
    if (this.#nextBytes.value > this.now.value)
      return `until ${timeText(this.#nextBytes.value)}: the limit of bytes is reached`;
    return '';
  });
  /**
   * The reason why no ticket that pages can compute can finish now. Empty: one can, there is none, or this page still
   * computes one.
   */
  readonly waits = computed(() => {
    const tasks = this.offered.value?.flatMap(({ tasks }) => tasks.filter(isOpen)) ?? [];
    return !this.busy.value && tasks.every(({ waits }) => waits) ? (tasks[0]?.waits ?? '') : '';
  });
  readonly threads = computed(() => (this.paused.value ? 0 : this.settings.value.threads));
  readonly running = computed(() => this.phase.value !== 'idle' && this.phase.value !== 'stopping');

  #node: PoolNode | null = null;
  #measured: TaskRunner | null = null;
  /** The last announcement: threads, and whether there is training. */
  #announced = { threads: 0, trains: false };
  #measuring = false;
  /** The reason why this page cannot train. Empty: it can train. */
  #trainingProblem = '';
  #threadsBefore = 0;
  #failures = 0;
  /** Bytes that `traffic` has and the storage has not. */
  #unstored = 0;
  #frozen = false;
  #ticketsMeter = new Rate();
  #samplesMeter = new Rate();
  #identity: { node?: string; key?: string } = {};
  #totals: Record<keyof Totals, Signal<number>> = {
    done: this.done,
    accepted: this.accepted,
    failed: this.failed,
    samples: this.samples,
    received: this.received,
    sent: this.sent,
    seconds: this.seconds,
  };
  #waiting = new AbortController();
  /** Lets another tab compute. Null: this tab does not lead. */
  #release: (() => void) | null = null;
  #tabs = new Tabs(() => void this.#stop());

  constructor() {
    this.#recall(loadMemory());
    this.#storeTraffic();
    addEventListener('storage', ({ key, newValue }) => {
      if (key === MEMORY_KEY) this.#recall(readMemory(newValue));
      if (key === TRAFFIC_KEY) this.traffic.value = addBytes(readTraffic(newValue), this.#unstored, Date.now());
    });
    addEventListener('pagehide', () => {
      this.#keep();
      this.#storeTraffic();
    });
    if (this.settings.value.onlyUnused)
      void watchPresence(false).then((allowed) => allowed || this.change({ onlyUnused: false }));
    document.addEventListener('visibilitychange', () => (this.hidden.value = document.hidden));
    document.addEventListener('freeze', () => this.#freeze(true));
    document.addEventListener('resume', () => this.#freeze(false));
    addEventListener('pagehide', () => this.#node?.setThreads(0));
    addEventListener('pageshow', ({ persisted }) => persisted && this.#use(this.threads.value));
    effect(() => keepSettings(this.settings.value));
    effect(() => {
      const threads = this.threads.value;
      untracked(() => this.#use(threads));
    });
    setInterval(() => this.#tick(), 1000);
    void this.#pollProjects();
  }

  change(settings: Partial<Settings>): void {
    this.settings.value = { ...this.settings.value, ...settings };
  }

  async start(): Promise<void> {
    if (this.running.value || this.phase.value === 'stopping' || this.expulsion.value) return;
    batch(() => {
      this.phase.value = 'measuring';
      this.problem.value = '';
    });
    const waiting = (this.#waiting = new AbortController());
    const release = await lead(waiting.signal, () => (this.phase.value = 'following'));
    if (!release) return;
    if (waiting.signal.aborted) return release();
    this.#release = release;
    this.#recall(loadMemory());
    this.phase.value = 'measuring';
    const ability = await this.#measureAbility();
    if (!this.running.value) return;
    this.phase.value = 'joining';
    const node = new PoolNode({
      connect: () => this.#connect(),
      fetchBlob: makeCachedFetch(this.#receive),
      maySend: (bytes) => this.#left() >= bytes,
      runners: Array.from({ length: CORES }, () => new ThrottledRunner(taskRunner(), this.#share)),
      ...ability,
      identity: hasLocks() ? this.#identity : {}, // two tabs cannot be the same node
      silence: SILENCE_SECONDS,
      onEvent: (event, details) => this.#node === node && this.#handleEvent(event, details),
    });
    this.#node = node;
    this.#ticketsMeter.clear();
    this.#samplesMeter.clear();
    node.setThreads(this.threads.value);
    void node.start();
  }

  /** Stops this tab and the others of this browser. */
  async stop(): Promise<void> {
    this.#tabs.stop();
    await this.#stop();
  }

  async #stop(): Promise<void> {
    if (!this.running.value) return;
    this.phase.value = 'stopping';
    this.#waiting.abort();
    this.#measured?.stop();
    await this.#node?.stop(STOP_SECONDS);
    this.#node = null;
    this.#announced.trains = false;
    this.#keep();
    this.#release?.();
    this.#release = null;
    batch(() => {
      this.phase.value = 'idle';
      this.rate.value = this.samplesRate.value = 0;
    });
  }

  /** Takes over what another visit or tab has kept, unless this tab is the one that computes. */
  #recall({ identity, totals, expulsion }: ReturnType<typeof loadMemory>): void {
    if (this.#node) return;
    this.#identity = identity;
    const expelled = expulsion && expulsion.until > Date.now() ? expulsion : null;
    batch(() => {
      for (const [name, total] of Object.entries(this.#totals)) total.value = totals[name as keyof Totals];
      this.expulsion.value = expelled;
    });
  }

  #keep(): void {
    if (!this.#release && !this.expulsion.value) return;
    const totals = Object.fromEntries(Object.entries(this.#totals).map(([name, total]) => [name, total.value]));
    keepMemory({ identity: this.#identity, totals: totals as unknown as Totals, expulsion: this.expulsion.value });
  }

  #share = () => this.settings.value.share / 100;
  #left = () => leftBytes(this.traffic.value, this.settings.value, Date.now());

  /** Counts bytes that were sent or received. At a limit, this pauses the page before it returns. */
  #spend(bytes: number): void {
    this.#unstored += bytes;
    this.traffic.value = addBytes(this.traffic.value, bytes, Date.now());
  }

  #storeTraffic(): void {
    this.traffic.value = keepTraffic(this.#unstored, Date.now()) ?? this.traffic.value;
    this.#unstored = 0;
  }

  /** Counts a part of a download. Throws at a limit, so that the download ends. */
  #receive = (bytes: number): void => {
    this.received.value += bytes;
    this.#spend(bytes);
    if (this.#left() <= 0) throw new Error('the limit of bytes is reached');
  };

  /**
   * Measures the speed if a project trains. Otherwise the library is not loaded. Announces a trainer in both cases,
   * because a training makes tickets only when it sees a node.
   */
  async #measureAbility(): Promise<Ability> {
    const { name, threads } = this.settings.value;
    const info = { name: name || 'a page', device: describeBrowser(), threads, gflops: 0, memory_bytes: MEMORY };
    const trains = !this.paused.value && (this.#announced.trains || this.#offersTraining());
    this.#announced = { threads, trains };
    this.#trainingProblem = '';
    const trainer = trainingRunner(crossOriginIsolated ? threads : 1, MEMORY, makeFetch(this.#receive), lendThreads);
    const trainers = [new ThrottledRunner(trainer, this.#share)];
    if (!trains) return { trainers, info };
    this.#measured = trainer;
    try {
      info.gflops = (await trainer.run({ function: trainingFunction, measure: MEASURE_SECONDS })) as number;
      return { trainers, info };
    } catch (error) {
      if (this.running.value) this.problem.value = this.#trainingProblem = (error as Error).message;
      return { trainers: [], info };
    } finally {
      this.#measured = null;
    }
  }

  #offersTraining(): boolean {
    return Boolean(this.offered.value?.some(({ tasks }) => tasks.some((task) => task.function === trainingFunction)));
  }

  /** Measures again and announces if the threads changed or training has appeared. */
  async #announceAgain(): Promise<void> {
    const { threads } = this.settings.value,
      node = this.#node;
    const moves = threads !== this.#threadsBefore; // the user may still be moving the slider
    this.#threadsBefore = threads;
    const differs = threads !== this.#announced.threads || (this.#offersTraining() && !this.#announced.trains);
    if (!node || this.#measuring || moves || !differs || this.paused.value || this.#frozen) return;
    node.setThreads(0);
    this.#measuring = true;
    const ability = await this.#measureAbility();
    this.#measuring = false;
    if (this.#node !== node || !this.running.value) return;
    node.announce(ability);
    this.#use(this.threads.value);
  }

  #connect(): WebSocket {
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/node`);
    const send = socket.send.bind(socket) as (message: Uint8Array) => void;
    socket.send = (message) => {
      const { byteLength } = message as Uint8Array;
      this.sent.value += byteLength;
      send(message as Uint8Array);
      this.#spend(byteLength);
    };
    socket.addEventListener('message', ({ data }) => {
      this.received.value += (data as ArrayBuffer).byteLength;
      this.#spend((data as ArrayBuffer).byteLength);
    });
    return socket;
  }

  #handleEvent(event: string, details: Record<string, any>): void {
    if (this.phase.value === 'stopping') return;
    batch(() => {
      if (event === 'joined') {
        this.phase.value = 'joined';
        this.#identity = this.#node?.identity ?? {};
        this.#keep();
        this.problem.value = this.#trainingProblem;
      } else if (event === 'waiting') {
        if (details.code === expelledCode) return void this.#expelled(details.reason);
        this.phase.value = 'waiting';
        this.reason.value = details.code === 1006 ? '' : details.reason; // 1006: the coordinator sent no reason
        this.retryAt.value = Date.now() + 1000 * details.seconds;
      } else if (event === 'result' || event === 'result_refused') {
        ++this.done.value;
        this.samples.value += details.samples ?? 0;
        if (details.verdict === 'accepted') ++this.accepted.value;
        if (event === 'result_refused') this.problem.value = `The coordinator refused a result: ${details.reason}`;
      } else if (event === 'ticket_failed') {
        ++this.failed.value;
        this.problem.value = `A ticket failed: ${details.error}`;
      } else if (event === 'refused' || event === 'bad_frame') {
        this.problem.value = String(details.error);
      }
    });
  }

  /** `reason` is the coordinator's, such as "a wrong result", or empty. */
  async #expelled(reason: string): Promise<void> {
    this.#identity = {}; // the coordinator does not accept it again
    this.expulsion.value = { reason, until: Date.now() + EXPELLED_MILLISECONDS };
    await this.stop();
  }

  #use(threads: number): void {
    if (!this.#frozen && !this.#measuring) this.#node?.setThreads(threads);
  }

  /** The browser freezes the page: gives its tickets back, so that the coordinator does not wait for them. */
  #freeze(frozen: boolean): void {
    this.#node?.setThreads(0);
    this.#frozen = frozen;
    if (!frozen) this.#use(this.threads.value);
  }

  #tick(): void {
    if (this.phase.value === 'joined') void this.#announceAgain();
    if (this.#unstored) this.#storeTraffic();
    batch(() => {
      this.now.value = Date.now();
      if (this.expulsion.value && this.expulsion.value.until <= this.now.value) this.expulsion.value = null;
      this.busy.value = Boolean(this.#node?.isBusy());
      if (this.phase.value !== 'joined') return;
      this.rate.value = 60 * this.#ticketsMeter.add(this.now.value / 1000, this.done.value);
      this.samplesRate.value = this.#samplesMeter.add(this.now.value / 1000, this.samples.value);
      if (!this.paused.value) ++this.seconds.value;
      this.#keep();
    });
  }

  /** Polls the offered projects while the page is visible or computes. */
  async #pollProjects(): Promise<void> {
    if (!document.hidden || this.running.value || this.offered.value === null) {
      try {
        const response = await fetch('/pool', { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MILLISECONDS) });
        const text = response.ok ? await response.text() : 'null';
        if (this.running.value) this.#spend(text.length);
        const list: Offers | null = JSON.parse(text);
        batch(() => {
          this.offered.value = list && list.projects;
          this.usualTraffic.value = list?.node_bytes_an_hour ?? 0;
        });
      } catch {
        this.offered.value = null;
      }
      this.#failures = this.offered.value ? 0 : this.#failures + 1;
    }
    setTimeout(() => void this.#pollProjects(), backoffDelay(OFFER_MILLISECONDS, this.#failures));
  }
}

/** Such as "14:05". */
const timeText = (milliseconds: number): string =>
  new Date(milliseconds).toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** Such as "Chromium 131, Linux". Uses only what the browser tells every site. */
function describeBrowser(): string {
  const { userAgentData } = navigator as {
    userAgentData?: { brands: { brand: string; version: string }[]; platform: string };
  };
  const brand = userAgentData?.brands.find((one) => !/not.?a.?brand/i.test(one.brand));
  if (brand) return `${brand.brand} ${brand.version}, ${userAgentData!.platform}`;
  const found = /(Firefox|Version|Chrome)\/(\d+)/.exec(navigator.userAgent);
  return found ? `${found[1].replace('Version', 'Safari')} ${found[2]}` : 'a browser';
}
