// SPDX-License-Identifier: MIT
// What the page holds: the library in its worker, a network, data, and the training that runs; and what can be done with
// them. One thing is done after another, but for pausing, and what goes wrong is told at its place in the page.
import { batch, signal } from '@preact/signals';
import { KaisekiError, type Kaiseki, type Network, type Optimizer, type Training } from 'kaiseki';
import { compact } from '../logic/format';
import { History } from './history';
import { Inspector } from './inspector';
import { CHOICES } from './networks';
import * as datasets from './dataset';

export type Phase = 'loading' | 'ready' | 'running' | 'paused' | 'broken';
export type Place = 'engine' | 'network' | 'data' | 'training' | 'weights';
export type Load = (options?: { threads?: number }) => Promise<Kaiseki>;

/** Multiply-adds for a picture: the worker answers between steps, which take many minutes with more. VGG-16 has 15G. */
const MOST_WORK = 1e11;

const CANCELLED = new DOMException('Loading data was cancelled', 'AbortError');

export class Session {
  readonly phase = signal<Phase>('loading');
  readonly busy = signal('');
  readonly problems = signal<Partial<Record<Place, string>>>({});
  readonly notice = signal('');
  readonly threads = signal(0);
  readonly network = signal<Network | null>(null);
  readonly json = signal(CHOICES[0].json);
  readonly data = signal<datasets.Dataset | null>(null);
  /** While data is read that may take long: gives it up. */
  readonly loading = signal<AbortController | null>(null);
  readonly learningRate = signal(CHOICES[0].learningRate);
  readonly batchSize = signal(50);
  readonly optimizer = signal('momentum');
  readonly history = new History();
  readonly inspector = new Inspector(this);

  kaiseki: Kaiseki | null = null;
  #origin: datasets.Origin = { kind: 'digits' };
  /** The last that was asked for. */
  #wanted: datasets.Origin | null = null;
  #whole: datasets.Dataset | null = null;
  #optimizer: Optimizer | null = null;
  #training: Training | null = null;
  /** What was learnt, while another worker is loaded that shall have it. */
  #kept: Uint8Array | undefined;
  #stop = new AbortController();
  #queue = Promise.resolve();
  #seed = 1;

  constructor(private readonly load: Load) {}

  open = (threads?: number) => this.#act('engine', 'Loading the library', async () => {
    await this.#keep();
    this.#forget();
    const kaiseki = await this.load({ threads });
    this.kaiseki = kaiseki;
    this.threads.value = kaiseki.threads;
    void kaiseki.closed.then((error) => error && this.kaiseki === kaiseki && this.#broke(error));
    try {
      await this.#adopt(this.json.value, this.#origin, this.#kept);
    } catch (error) {
      if (this.#origin.kind === 'digits') throw error;
      if (error !== CANCELLED) this.tell('data', error);
      await this.#adopt(this.json.value, { kind: 'digits' }, this.#kept);
      this.notice.value = 'The data could not be opened again: these are the built-in digits';
    }
  });

  /** `learningRate` is momentum's: each other optimizer has its own. */
  useNetwork = (json: string, learningRate?: number) => this.#act('network', 'Building the network', async () => {
    await this.#adopt(json);
    this.notice.value = `Network ready: ${this.network.value!.layers.length} layers`;
    if (learningRate && this.optimizer.value === 'momentum') this.learningRate.value = learningRate;
  });

  /** Instead of what is still being loaded. */
  useData = (origin: datasets.Origin) => {
    this.cancel();
    this.#wanted = origin;
    return this.#act('data', 'Loading data', async () => {
      if (this.#wanted !== origin) return;
      await this.#adopt(this.json.value, origin);
      this.notice.value = `Data ready: ${this.data.value!.name}`;
    });
  };

  cancel = () => this.loading.value?.abort(CANCELLED);

  start = () => this.#act('training', '', async () => {
    const { kaiseki, network, data } = { kaiseki: this.kaiseki, network: this.network.value, data: this.data.value };
    if (!kaiseki || !network || !data || this.phase.value === 'running') return;
    if (this.#training) {
      this.#training.resume();
    } else {
      this.#optimizer ??= await kaiseki.optimizer(this.optimizer.value, { learningRate: this.learningRate.value });
      this.#stop = new AbortController();
      this.history.begin();
      const training = kaiseki.train(network, this.#optimizer, data.train, {
        batchSize: this.batchSize.value, learningRate: this.learningRate.value, seed: this.#seed, signal: this.#stop.signal,
        onStep: (progress) => this.#training === training && this.history.add(progress),
      });
      this.#training = training;
      training.finished.then(() => undefined, (error) => this.#training === training && this.#failed(error));
    }
    this.history.run(true);
    this.phase.value = 'running';
    this.notice.value = 'Training';
  });

  /** At once, as training runs while something else is done, which may take long. */
  pause = async (): Promise<void> => {
    const training = this.#training, runs = () => this.#training === training && this.phase.value === 'running';
    if (!training || !runs()) return;
    try {
      await training.pause();
    } catch (error) {
      return this.tell('training', error);
    }
    if (!runs()) return;
    this.history.run(false);
    this.phase.value = 'paused';
    this.notice.value = `Paused at step ${this.history.step.value}`;
  };

  reset = () => this.#act('training', '', async () => {
    await this.#end();
    await this.network.value?.initialize(++this.#seed);
    this.inspector.refresh();
    this.notice.value = 'Started over, with new weights';
  });

  setLearningRate(value: number): void {
    this.learningRate.value = value;
    if (this.#training) this.#training.learningRate = value;
  }

  setBatchSize(value: number): void {
    this.batchSize.value = value;
    if (this.#training) this.#training.batchSize = value;
  }

  /** Its state begins anew: training goes on with the same weights. */
  setOptimizer = (name: string, learningRate: number) => this.#act('training', '', async () => {
    await this.#end(true);
    this.optimizer.value = name;
    this.learningRate.value = learningRate;
  });

  saveWeights = async (): Promise<Uint8Array | null> => {
    let bytes: Uint8Array | null = null;
    await this.#act('weights', '', async () => { bytes = await this.network.value?.saveWeights('safetensors') ?? null; });
    return bytes;
  };

  loadWeights = (file: Blob) => this.#act('weights', 'Loading weights', async () => {
    await this.network.value?.loadWeights(file);
    this.notice.value = 'Weights loaded';
    this.inspector.outdate();
    this.inspector.refresh();
    await this.inspector.evaluate();
  });

  /** Another network, other data or both; what was there stays until all of it is ready. */
  async #adopt(json: string, origin?: datasets.Origin, weights?: Uint8Array): Promise<void> {
    const kaiseki = this.kaiseki;
    if (!kaiseki) return;
    if (origin && origin.kind !== 'digits') this.loading.value = new AbortController();
    let network: Network | null = null, whole: datasets.Dataset | null = null, data: datasets.Dataset | null = null;
    try {
      network = await kaiseki.network(json);
      const work = network.layers.reduce((sum, { multiplyAdds }) => sum + multiplyAdds, 0);
      if (work > MOST_WORK)
        throw new Error(`[network] expected at most ${compact(MOST_WORK)} multiply-adds for a picture, as this page waits for `
          + `every step, got ${compact(work)}: make pictures or layers smaller, or train with the command kaiseki`);
      if (!network.hasWeights) await network.initialize(this.#seed);
      if (weights) await network.loadWeights(weights);
      const { signal } = this.loading.value ?? {};
      whole = origin ? await datasets.open(kaiseki, origin, (text) => (this.busy.value = text), signal) : this.#whole;
      this.loading.value = null;
      data = whole && await datasets.fitted(kaiseki, whole, network.inputShape);
      if (!weights) await this.#end();
      const old = { network: this.network.value, sets: [this.data.value, this.#whole] };
      batch(() => {
        this.json.value = json;
        this.network.value = network;
        this.data.value = data;
        this.phase.value = this.history.step.value ? 'paused' : 'ready';
        this.tell('training', '');
      });
      this.#whole = whole;
      this.#kept = undefined;
      if (origin) this.#origin = origin;
      old.network?.dispose();
      datasets.dispose(old.sets, [data, whole]);
    } catch (error) {
      network?.dispose();
      datasets.dispose([data, whole], [this.data.value, this.#whole]);
      throw error;
    } finally {
      this.loading.value = null;
    }
    await this.inspector.renew();
  }

  /** Before the worker ends: where the weights cannot be had from it, it stays. */
  async #keep(): Promise<void> {
    const before = this.phase.value;
    this.phase.value = 'loading';
    if (!this.network.value) return;
    try {
      this.#kept = await this.network.value.saveWeights();
    } catch (error) {
      if (this.phase.value === 'loading') this.phase.value = before;
      throw error;
    }
  }

  async #end(keepHistory = false): Promise<void> {
    this.#stop.abort(new DOMException('ended', 'AbortError'));
    this.#training = null;
    this.#optimizer?.dispose();
    this.#optimizer = null;
    this.history.run(false);
    if (!keepHistory) {
      this.history.clear();
      this.inspector.clear();
    }
    if (this.phase.value !== 'loading') this.phase.value = this.history.step.value ? 'paused' : 'ready';
  }

  #failed(error: unknown): void {
    this.history.run(false);
    this.#training = null;
    this.#optimizer?.dispose();  // may hold half a step
    this.#optimizer = null;
    if (this.phase.value !== 'broken') this.phase.value = this.history.step.value ? 'paused' : 'ready';
    this.tell('training', error);
  }

  #broke(error: KaisekiError): void {
    this.#forget();
    this.phase.value = 'broken';
    this.tell('engine', error);
  }

  #forget(): void {
    const kaiseki = this.kaiseki;
    this.kaiseki = null;
    this.history.run(false);
    this.#training = this.#optimizer = this.#whole = this.network.value = this.data.value = null;
    kaiseki?.close();
  }

  #act(place: Place, what: string, body: () => Promise<void>): Promise<void> {
    this.#queue = this.#queue.then(async () => {
      this.tell(place, '');
      this.busy.value = what;
      try {
        await body();
      } catch (error) {
        if (error === CANCELLED) this.notice.value = CANCELLED.message;
        else this.tell(place, error);
        if (this.phase.value === 'loading') this.phase.value = 'broken';
      } finally {
        this.busy.value = '';
      }
    });
    return this.#queue;
  }

  tell(place: Place, problem: unknown): void {
    this.problems.value = { ...this.problems.value, [place]: problem instanceof Error ? problem.message : String(problem) };
  }
}

