// SPDX-License-Identifier: MIT
// A page that computes for the pool: nothing before start(), nothing after stop(), and meanwhile as much as the settings
// allow.
import { batch, computed, effect, signal, untracked } from '@preact/signals';
import { lendThreads } from 'kaiseki';
import { putOut } from '../../pool/frame.js';
import { PoolNode, type TaskRunner } from '../../pool/node.js';
import { RestingRunner, makeFetch, makeKeepingFetch, taskRunner, trainingRunner } from '../../pool/page_runner.js';
import { trainingFunction } from '../../pool/training.js';
import { again } from '../logic/again';
import { Rate } from '../logic/rate';
import { onBattery } from './power';
import { keepSettings, loadSettings, type Settings } from './settings';

export type Phase = 'idle' | 'measuring' | 'joining' | 'joined' | 'waiting' | 'stopping';

export interface TaskCounts {
  task: number;
  name: string;
  function: string;
  modules: boolean;
  open: number;
  done: number;
}
export interface Offered {
  project: number;
  name: string;
  tasks: TaskCounts[];
}

/** What a node says of itself. */
interface Ability {
  trainers: TaskRunner[];
  info: { name: string; device: string; threads: number; gflops: number };
}

/** Whether pages can compute it. */
export const forPages = (task: TaskCounts): boolean => task.modules || task.function === trainingFunction;

export const hasWork = ({ tasks }: Offered): boolean => tasks.some((task) => forPages(task) && task.open > 0);

const OFFER_MILLISECONDS = 2500;
const ANSWER_MILLISECONDS = 10000; // of the coordinator, at most
const STOP_SECONDS = 0.5;
const MEASURE_SECONDS = 2;

export const CORES = navigator.hardwareConcurrency || 1;

export class Volunteer {
  readonly settings = signal<Settings>(loadSettings(CORES));
  readonly phase = signal<Phase>('idle');
  readonly hidden = signal(document.hidden);
  /** Null: not known yet, or the coordinator does not answer. */
  readonly offered = signal<Offered[] | null>(null);
  readonly done = signal(0);
  readonly accepted = signal(0);
  readonly failed = signal(0);
  readonly received = signal(0);
  readonly sent = signal(0);
  /** Tickets a minute. */
  readonly rate = signal(0);
  /** That it trained on, and how many a second now. */
  readonly samples = signal(0);
  readonly samplesRate = signal(0);
  readonly seconds = signal(0);
  readonly problem = signal('');
  readonly retryAt = signal(0);
  /** Why the coordinator ended the connection, in its words; empty: it did not. */
  readonly reason = signal('');
  readonly now = signal(Date.now());

  /** Why nothing is computed for the moment; empty: it may. */
  readonly paused = computed(() => {
    if (this.hidden.value && !this.settings.value.whenHidden) return 'while this page is hidden';
    if (onBattery.value && !this.settings.value.onBattery) return 'while the machine runs on its battery';
    return '';
  });
  readonly threads = computed(() => (this.paused.value ? 0 : this.settings.value.threads));
  readonly running = computed(() => this.phase.value !== 'idle' && this.phase.value !== 'stopping');

  #node: PoolNode | null = null;
  #measured: TaskRunner | null = null;
  /** For what the coordinator was last told: threads, and whether there is training. */
  #told = { threads: 0, trains: false };
  #preparing = false;
  /** Why it does not train, where it cannot. */
  #unable = '';
  #threadsBefore = 0;
  #failures = 0;
  #frozen = false;
  #pace = new Rate();
  #samplesPace = new Rate();

  constructor() {
    document.addEventListener('visibilitychange', () => (this.hidden.value = document.hidden));
    document.addEventListener('freeze', () => this.#freeze(true));
    document.addEventListener('resume', () => this.#freeze(false));
    addEventListener('pagehide', () => this.#node?.use(0));
    addEventListener('pageshow', ({ persisted }) => persisted && this.#use(this.threads.value));
    effect(() => keepSettings(this.settings.value));
    effect(() => {
      const threads = this.threads.value;
      untracked(() => this.#use(threads));
    });
    setInterval(() => this.#tick(), 1000);
    void this.#look();
  }

  change(settings: Partial<Settings>): void {
    this.settings.value = { ...this.settings.value, ...settings };
  }

  async start(): Promise<void> {
    if (this.running.value || this.phase.value === 'stopping') return;
    batch(() => {
      this.phase.value = 'measuring';
      this.problem.value = '';
    });
    const ability = await this.#prepare();
    if (!this.running.value) return;
    this.phase.value = 'joining';
    const node = new PoolNode({
      connect: () => this.#connect(),
      fetchBlob: makeKeepingFetch(this.#count),
      runners: Array.from({ length: CORES }, () => new RestingRunner(taskRunner(), this.#share)),
      ...ability,
      onEvent: (event, details) => this.#node === node && this.#hear(event, details),
    });
    this.#node = node;
    this.#pace.clear();
    this.#samplesPace.clear();
    node.use(this.threads.value);
    void node.start();
  }

  async stop(): Promise<void> {
    if (!this.running.value) return;
    this.phase.value = 'stopping';
    this.#measured?.stop();
    await this.#node?.stop(STOP_SECONDS);
    this.#node = null;
    this.#told.trains = false;
    batch(() => {
      this.phase.value = 'idle';
      this.rate.value = this.samplesRate.value = 0;
    });
  }

  #share = () => this.settings.value.share / 100;
  #count = (bytes: number) => (this.received.value += bytes);

  /**
   * Measures its speed where there is training; else the library is not loaded. It says that it trains all the same: a
   * training makes tickets when it sees a node.
   */
  async #prepare(): Promise<Ability> {
    const { name, threads } = this.settings.value;
    const info = { name: name || 'a page', device: describeBrowser(), threads, gflops: 0 };
    const trains = this.#told.trains || this.#offersTraining();
    this.#told = { threads, trains };
    this.#unable = '';
    const trainer = trainingRunner(crossOriginIsolated ? threads : 1, makeFetch(this.#count), lendThreads);
    const trainers = [new RestingRunner(trainer, this.#share)];
    if (!trains) return { trainers, info };
    this.#measured = trainer;
    try {
      info.gflops = await trainer.run({ function: trainingFunction, measure: MEASURE_SECONDS }) as number;
      return { trainers, info };
    } catch (error) {
      if (this.running.value) this.problem.value = this.#unable = (error as Error).message;
      return { trainers: [], info };
    } finally {
      this.#measured = null;
    }
  }

  #offersTraining(): boolean {
    return Boolean(this.offered.value?.some(({ tasks }) => tasks.some((task) => task.function === trainingFunction)));
  }

  /** Other threads than it said, or training that was not there: says the speed of now. */
  async #renew(): Promise<void> {
    const { threads } = this.settings.value, node = this.#node;
    const moves = threads !== this.#threadsBefore;  // the slider does, perhaps
    this.#threadsBefore = threads;
    const differs = threads !== this.#told.threads || (this.#offersTraining() && !this.#told.trains);
    if (!node || this.#preparing || moves || !differs || this.paused.value || this.#frozen) return;
    node.use(0);
    this.#preparing = true;
    const ability = await this.#prepare();
    this.#preparing = false;
    if (this.#node !== node || !this.running.value) return;
    node.announce(ability);
    this.#use(this.threads.value);
  }

  #connect(): WebSocket {
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/node`);
    const send = socket.send.bind(socket) as (message: Uint8Array) => void;
    socket.send = (message) => {
      this.sent.value += (message as Uint8Array).byteLength;
      send(message as Uint8Array);
    };
    socket.addEventListener('message', ({ data }) => (this.received.value += (data as ArrayBuffer).byteLength));
    return socket;
  }

  #hear(event: string, details: Record<string, any>): void {
    if (this.phase.value === 'stopping') return;
    batch(() => {
      if (event === 'joined') {
        this.phase.value = 'joined';
        this.problem.value = this.#unable;
      } else if (event === 'waiting') {
        if (details.code === 1008 && details.reason.startsWith(putOut)) return void this.#expelled(details.reason.slice(putOut.length));
        this.phase.value = 'waiting';
        this.reason.value = details.code === 1006 ? '' : details.reason;  // 1006: there was no word of the coordinator
        this.retryAt.value = Date.now() + 1000 * details.seconds;
      } else if (event === 'result' || event === 'result_refused') {
        ++this.done.value;
        this.samples.value += details.samples ?? 0;
        if (details.verdict === 'accepted') ++this.accepted.value;
        if (event === 'result_refused') this.problem.value = `A result was refused: ${details.reason}`;
      } else if (event === 'ticket_failed') {
        ++this.failed.value;
        this.problem.value = `A ticket failed: ${details.error}`;
      } else if (event === 'refused' || event === 'bad_frame') {
        this.problem.value = String(details.error);
      }
    });
  }

  /** `why` is what the coordinator says beside it, such as ": a wrong result"; empty: nothing. */
  async #expelled(why: string): Promise<void> {
    await this.stop();
    this.problem.value = `This pool has put this page out${why}. It computes nothing more`;
  }

  #use(threads: number): void {
    if (!this.#frozen && !this.#preparing) this.#node?.use(threads);
  }

  /** The browser stops the page: what it holds would only be waited for. */
  #freeze(frozen: boolean): void {
    this.#node?.use(0);
    this.#frozen = frozen;
    if (!frozen) this.#use(this.threads.value);
  }

  #tick(): void {
    if (this.phase.value === 'joined') void this.#renew();
    batch(() => {
      this.now.value = Date.now();
      if (this.phase.value !== 'joined') return;
      this.rate.value = 60 * this.#pace.add(this.now.value / 1000, this.done.value);
      this.samplesRate.value = this.#samplesPace.add(this.now.value / 1000, this.samples.value);
      if (!this.paused.value) ++this.seconds.value;
    });
  }

  /** What there is to compute: asked again and again, as long as somebody looks or it computes. */
  async #look(): Promise<void> {
    if (!document.hidden || this.running.value || this.offered.value === null) {
      try {
        const response = await fetch('/pool', { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MILLISECONDS) });
        this.offered.value = response.ok ? await response.json() : null;
      } catch {
        this.offered.value = null;
      }
      this.#failures = this.offered.value ? 0 : this.#failures + 1;
    }
    setTimeout(() => void this.#look(), again(OFFER_MILLISECONDS, this.#failures));
  }
}

/** Such as "Chromium 131, Linux"; not more than the browser tells everyone. */
function describeBrowser(): string {
  const { userAgentData } = navigator as { userAgentData?: { brands: { brand: string; version: string }[]; platform: string } };
  const brand = userAgentData?.brands.find((one) => !/not.?a.?brand/i.test(one.brand));
  if (brand) return `${brand.brand} ${brand.version}, ${userAgentData!.platform}`;
  const found = /(Firefox|Version|Chrome)\/(\d+)/.exec(navigator.userAgent);
  return found ? `${found[1].replace('Version', 'Safari')} ${found[2]}` : 'a browser';
}
