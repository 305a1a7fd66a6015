// SPDX-License-Identifier: MIT
// The state of the page: the library in its worker, a network, data and the training. Actions run one after another,
// except pause().
import { batch, signal } from '@preact/signals';
import {
  KaisekiError,
  type load,
  type Kaiseki,
  type Network,
  type Optimizer,
  type OptimizerOptions,
  type Progress,
  type Training,
} from 'kaiseki';
import { plural, rate } from '../logic/format';
import { checkWeights } from '../logic/formats';
import { augmentationOf, optimizerOptions, scheduleOf } from '../logic/recipe';
import { Actions } from './actions';
import { build } from './build';
import { History } from './history';
import { BAD_START, divergedText } from './diverged';
import { CANCELLED, FAILED } from './failed';
import { Inspector } from './inspector';
import { Keeper, missingText, type DataNames, type SavedTraining, type Store } from './keeper';
import { CHOICES } from './networks';
import { ask, type Question } from './question';
import { noStore } from './store';
import * as datasets from './dataset';

export type Load = typeof load;

export class Session extends Actions {
  readonly question = signal<Question | null>(null);
  /** The training of an earlier visit, until the user continues or discards it. */
  readonly earlier = signal<SavedTraining | null>(null);
  readonly threads = signal(0);
  readonly network = signal<Network | null>(null);
  readonly json = signal(CHOICES[0].json);
  readonly data = signal<datasets.Dataset | null>(null);
  /** Cancels reading the data. Null: no data is being read. */
  readonly loading = signal<AbortController | null>(null);
  readonly learningRate = signal(0.01);
  readonly batchSize = signal(50);
  readonly optimizer = signal('momentum');
  /** The length of training, and of its schedule. */
  readonly epochs = signal(10);
  /** Whether training has reached this length. */
  readonly finished = signal(false);
  readonly origin = signal<datasets.Origin>({ kind: 'digits' });
  readonly history = new History();
  readonly inspector = new Inspector(this);

  kaiseki: Kaiseki | null = null;
  readonly #keeper: Keeper;
  #askedEarlier = false;
  /** The last requested data. */
  #requestedOrigin: datasets.Origin | null = null;
  #originalData: datasets.Dataset | null = null;
  #dataName = '';
  /** The data of a restored training, until the user selects data for it. Its copies name these data. */
  #missing: DataNames | null = null;
  #optimizer: Optimizer | null = null;
  /** The state that the next optimizer starts from. Null: it starts from zero. */
  #optimizerState: Uint8Array | null = null;
  #training: Training | null = null;
  /** The weights, while another worker is being loaded. */
  #savedWeights: Uint8Array | undefined;
  #stop = new AbortController();
  #seed = 1;

  constructor(
    private readonly load: Load,
    store: Store = noStore,
  ) {
    super();
    this.#keeper = new Keeper(
      store,
      () => this.network.value,
      () => this.#optimizer,
      () => ({
        json: this.json.value,
        origin: this.origin.value.kind === 'files' ? null : this.origin.value,
        dataName: this.data.value?.name ?? '',
        ...this.#missing,
        optimizer: this.optimizer.value,
        learningRate: this.learningRate.value,
        batchSize: this.batchSize.value,
        epochs: this.epochs.value,
        history: this.history.save(),
      }),
    );
  }

  open = (threads?: number) =>
    this.enqueue('engine', 'Loading the library', async () => {
      if (this.phase.value === 'broken') this.#useLastCopy();
      await this.#saveWeightsForReload();
      this.#closeLibrary();
      const kaiseki = await this.load({ threads, onProgress: this.#showLoaded });
      this.kaiseki = kaiseki;
      this.threads.value = kaiseki.threads;
      void kaiseki.closed.then((error) => error && this.kaiseki === kaiseki && this.#workerFailed(error));
      const { value: origin } = this.origin,
        dataName = this.#dataName;
      const opened = await this.#installAgain(this.json.value, origin, this.#savedWeights);
      if (!opened && this.history.step.value)
        this.#missing = { origin: origin.kind === 'files' ? null : origin, dataName };
      this.#askForData();
      if (!this.#askedEarlier) this.#useRecipe();
      if (!this.#askedEarlier) this.earlier.value = (await this.#keeper.stored()) ?? null;
      this.#askedEarlier = true;
    });

  #showLoaded = ({ loaded }: { loaded: number }) =>
    (this.busy.value = `Loading the library, ${(loaded / 1e6).toFixed(1)} MB`);

  /** Continues the training of an earlier visit. */
  continueEarlier = () =>
    this.enqueue('training', 'Loading your training', async () => {
      const saved = this.earlier.value;
      if (!saved) return;
      const { origin, dataName } = saved;
      const opened = await this.#installAgain(saved.json, origin ?? { kind: 'digits' }, saved.weights);
      await this.#endTraining(true);
      this.#missing = origin && opened ? null : { origin, dataName };
      this.#optimizerState = saved.optimizerState;
      batch(() => {
        this.optimizer.value = saved.optimizer;
        this.learningRate.value = saved.learningRate;
        this.batchSize.value = saved.batchSize;
        this.epochs.value = saved.epochs;
        this.history.restore(saved.history);
        this.phase.value = 'paused';
        this.earlier.value = null;
        this.notice.value = `Paused at step ${saved.history.step}`;
        this.#askForData();
      });
      this.inspector.refresh();
    });

  discardEarlier = (): void => {
    this.earlier.value = null;
    this.#keeper.forget();
  };

  /** Stores the training now, because the page may be closed soon. */
  keep = async (): Promise<void> => {
    if (this.history.step.value) await this.#keeper.keep();
  };

  /** Stores a paused training. A running one is stored after a later step. */
  keepPaused = (): Promise<void> => (this.phase.value === 'paused' ? this.keep() : Promise.resolve());

  /** Whether closing the page loses steps. */
  get losesSteps(): boolean {
    return this.history.step.value > 0 && !this.#keeper.storing;
  }

  /** From JSON or the bytes of an ONNX file. */
  useNetwork = async (source: string | Uint8Array): Promise<void> => {
    if (!(await this.#mayDiscard('Use the other network'))) return;
    await this.enqueue('network', 'Building the network', async () => {
      await this.#install(source);
      this.notice.value = `Network ready: ${this.network.value!.layers.length} layers`;
      this.#useRecipe();
    });
  };

  /** Loads data. Cancels an earlier load. A restored training whose data are missing continues with them. */
  useData = async (origin: datasets.Origin): Promise<void> => {
    const missing = this.#missing !== null;
    if (!missing && !(await this.#mayDiscard('Use the other data'))) return;
    this.cancel();
    this.#requestedOrigin = origin;
    return this.enqueue('data', 'Loading data', async () => {
      if (this.#requestedOrigin !== origin) return;
      await this.#install(this.json.value, origin, missing ? await this.network.value!.saveWeights() : undefined);
      this.#missing = null;
      this.notice.value = `Data ready: ${this.data.value!.name}`;
    });
  };

  cancel = () => this.loading.value?.abort(CANCELLED);

  start = async (): Promise<void> => {
    const { earlier } = this;
    if (earlier.value) {
      const steps = plural(earlier.value.history.step, 'step');
      if (!(await ask(this.question, `This discards your last training of ${steps}.`, 'Start again'))) return;
      this.discardEarlier();
    }
    await this.#start();
  };

  #start = () =>
    this.enqueue('training', '', async () => {
      const { kaiseki, network, data } = { kaiseki: this.kaiseki, network: this.network.value, data: this.data.value };
      if (!kaiseki || !network || !data || this.phase.value === 'running') return;
      const recipe = network.json.recipe ?? {};
      this.finished.value = false;
      if (this.#training) {
        this.#training.resume();
      } else {
        if (this.#missing) return this.#askForData();
        this.#optimizer ??= await this.#makeOptimizer(kaiseki, network, optimizerOptions(recipe));
        await this.#keeper.begin();
        this.#stop = new AbortController();
        this.history.begin(data.train.images.shape[0]);
        const training = kaiseki.train(network, this.#optimizer, data.train, {
          batchSize: this.batchSize.value,
          learningRate: this.learningRate.value,
          schedule: scheduleOf(recipe, this.epochs.value, this.history.epochs.value),
          augment: augmentationOf(recipe),
          seed: this.#seed,
          signal: this.#stop.signal,
          onStep: (progress) => this.#training === training && this.#stepped(progress),
        });
        this.#training = training;
        training.finished.then(
          () => this.#training === training && this.#finish(),
          (error) => this.#training === training && this.#trainingFailed(error),
        );
      }
      this.history.run(true);
      this.phase.value = 'running';
      this.notice.value = 'Training';
    });

  async #makeOptimizer(kaiseki: Kaiseki, network: Network, options: OptimizerOptions): Promise<Optimizer> {
    const optimizer = await kaiseki.optimizer(this.optimizer.value, {
      learningRate: this.learningRate.value,
      ...options,
    });
    if (this.#optimizerState) await optimizer.loadState(network, this.#optimizerState);
    this.#optimizerState = null;
    return optimizer;
  }

  #askForData(): void {
    if (!this.#missing) return;
    this.notice.value = `The training waits for its data, ${this.#missing.dataName}`;
    const { data: cause = '' } = this.problems.value,
      text = missingText(this.#missing);
    if (!cause.includes(text)) this.showProblem('data', cause ? `${cause}. ${text}` : text);
  }

  /** Runs immediately, because other actions may take long while training runs. */
  pause = async (): Promise<void> => {
    const training = this.#training,
      runs = () => this.#training === training && this.phase.value === 'running';
    if (!training || !runs()) return;
    try {
      await training.pause();
    } catch (error) {
      return this.showProblem('training', error);
    }
    if (!runs()) return;
    this.history.run(false);
    this.phase.value = 'paused';
    this.notice.value = `Paused at step ${this.history.step.value}`;
    await this.keep();
  };

  reset = async (): Promise<void> => {
    if (!(await this.#mayDiscard('Reset'))) return;
    await this.enqueue('training', '', async () => {
      await this.#endTraining();
      await this.network.value?.initialize(++this.#seed);
      this.inspector.refresh();
      this.notice.value = 'Reset: the network has new weights';
    });
  };

  /** Continues a training that diverged. */
  continueSlower = async (): Promise<void> => {
    if (this.lowerRate.value) this.setLearningRate(this.lowerRate.value);
    await this.start();
  };

  setLearningRate(value: number): void {
    this.learningRate.value = value;
    if (this.#training) this.#training.learningRate = value;
  }

  setBatchSize(value: number): void {
    this.batchSize.value = value;
    if (this.#training) this.#training.batchSize = value;
  }

  /** Takes effect when training is started or resumed. */
  setEpochs(value: number): void {
    this.epochs.value = value;
    this.finished.value = false;
    this.#stop.abort(new DOMException('ended', 'AbortError'));
    this.#training = null; // the next start continues with another schedule
  }

  /** Resets the optimizer's state. Training continues with the same weights. */
  setOptimizer = (name: string, learningRate: number) =>
    this.enqueue('training', '', async () => {
      await this.#endTraining(true);
      this.optimizer.value = name;
      this.learningRate.value = learningRate;
    });

  saveWeights = async (): Promise<Uint8Array | null> => {
    let bytes: Uint8Array | null = null;
    await this.enqueue('weights', '', async () => {
      bytes = (await this.network.value?.saveWeights('safetensors')) ?? null;
    });
    return bytes;
  };

  loadWeights = async (file: Blob): Promise<void> => {
    if (!(await this.#mayDiscard('Load other weights'))) return;
    await this.enqueue('weights', 'Loading weights', async () => {
      await checkWeights(file);
      await this.#endTraining(true); // a step after loading changes the weights
      await this.network.value?.loadWeights(file);
      await this.#endTraining();
      this.notice.value = 'Weights loaded';
      this.inspector.discardEvaluation();
      this.inspector.refresh();
      await this.inspector.evaluate();
    });
  };

  /** Takes the settings from the recipe in the network's JSON. Settings without a recipe value stay unchanged. */
  #useRecipe(): void {
    const { optimizer, learning_rate: rate, batch_size: size, epochs } = this.network.value?.json.recipe ?? {};
    batch(() => {
      if (optimizer) this.optimizer.value = optimizer;
      if (rate) this.learningRate.value = rate;
      if (size) this.batchSize.value = size;
      if (epochs) this.epochs.value = epochs;
    });
  }

  /** As #install(), but with the built-in digits if the data cannot be loaded. Returns whether they were loaded. */
  async #installAgain(json: string, origin: datasets.Origin, weights?: Uint8Array): Promise<boolean> {
    try {
      await this.#install(json, origin, weights);
      return true;
    } catch (error) {
      if (origin.kind === 'digits') throw error;
      if (error !== CANCELLED) this.showProblem('data', error);
      await this.#install(json, { kind: 'digits' }, weights);
      this.notice.value = 'The data could not be loaded again. The built-in digits are used';
      return false;
    }
  }

  /** Installs another network, other data or both. The old ones stay until all is ready. */
  async #install(source: string | Uint8Array, origin?: datasets.Origin, weights?: Uint8Array): Promise<void> {
    const kaiseki = this.kaiseki;
    if (!kaiseki) return;
    if (origin && origin.kind !== 'digits') this.loading.value = new AbortController();
    try {
      const { signal } = this.loading.value ?? {};
      const { json, network, originalData, data } = await build(kaiseki, {
        source,
        weights,
        seed: this.#seed,
        used: this.#originalData,
        open: origin && (() => datasets.open(kaiseki, origin, (text) => (this.busy.value = text), signal)),
      });
      this.loading.value = null;
      if (!weights) await this.#endTraining();
      const old = { network: this.network.value, sets: [this.data.value, this.#originalData] };
      batch(() => {
        this.json.value = json;
        this.network.value = network;
        this.data.value = data;
        this.phase.value = this.history.step.value ? 'paused' : 'ready';
        this.showProblem('training', '');
      });
      this.#originalData = originalData;
      this.#savedWeights = undefined;
      if (origin) this.origin.value = origin;
      this.#dataName = data?.name ?? '';
      old.network?.dispose();
      datasets.dispose(old.sets, [data, originalData]);
    } finally {
      this.loading.value = null;
    }
    await this.inspector.updatePicture();
  }

  /** Saves the weights before the worker is replaced. If that fails, the worker stays. */
  async #saveWeightsForReload(): Promise<void> {
    const before = this.phase.value;
    this.phase.value = 'loading';
    if (!this.network.value) return;
    try {
      const state = this.#optimizer?.saveState(this.network.value);
      this.#savedWeights = await this.network.value.saveWeights();
      this.#optimizerState = (await state) ?? this.#optimizerState;
    } catch (error) {
      if (this.phase.value === 'loading') this.phase.value = before;
      throw error;
    }
  }

  /** Restores weights and curves of the last copy, for a worker that replaces one that ended. */
  #useLastCopy(): void {
    const copy = this.#keeper.good;
    if (!copy || copy.json !== this.json.value || this.#savedWeights) return;
    this.#savedWeights = copy.weights;
    this.#optimizerState = copy.optimizerState;
    this.history.restore(copy.history);
  }

  #stepped(progress: Progress): void {
    if (!Number.isFinite(progress.loss)) return void this.#diverged(progress);
    this.#keeper.step(progress.loss);
    this.history.add(progress);
  }

  /** Ends a training whose loss is infinite or NaN, and restores the last good weights. */
  #diverged({ step }: Progress): Promise<void> {
    const { good } = this.#keeper,
      network = this.network.value,
      learningRate = this.learningRate.value;
    const at = this.history.save().step;
    void this.#endTraining(true);
    this.inspector.discardEvaluation();
    return this.enqueue('training', '', async () => {
      if (this.network.value !== network || this.#keeper.good !== good) return; // discarded by an action before this one
      if (good && step > 1) {
        await network?.loadWeights(good.weights);
        this.history.restore(good.history);
        this.phase.value = good.history.step ? 'paused' : 'ready';
      }
      this.inspector.clear();
      this.inspector.refresh();
      this.notice.value = FAILED.training;
      if (step === 1) return this.showProblem('training', BAD_START);
      this.showProblem('training', divergedText(at, learningRate, good));
      if (good) this.lowerRate.value = Number(rate(learningRate / 10));
    });
  }

  async #mayDiscard(yes: string): Promise<boolean> {
    const steps = this.history.step.value;
    return !steps || ask(this.question, `This discards ${plural(steps, 'step')} of training.`, yes);
  }

  async #endTraining(keepHistory = false): Promise<void> {
    if (!keepHistory && this.history.step.value) this.#keeper.forget();
    this.#stop.abort(new DOMException('ended', 'AbortError'));
    this.#training = null;
    this.finished.value = false;
    this.#optimizer?.dispose();
    this.#optimizer = this.#optimizerState = null;
    this.history.run(false);
    if (!keepHistory) {
      this.#missing = null;
      this.history.clear();
      this.inspector.clear();
    }
    if (this.phase.value !== 'loading') this.phase.value = this.history.step.value ? 'paused' : 'ready';
  }

  /** Ends a training that has reached its length. */
  #finish(): void {
    this.history.run(false);
    this.#training = null;
    this.finished.value = true;
    this.phase.value = 'paused';
    this.notice.value = `Finished after ${plural(this.history.epoch.value, 'epoch')}`;
    void this.keep();
    void this.inspector.evaluate();
  }

  #trainingFailed(error: unknown): void {
    this.history.run(false);
    this.#training = null;
    this.#optimizer?.dispose(); // its state may be half updated
    this.#optimizer = null;
    if (this.phase.value !== 'broken') this.phase.value = this.history.step.value ? 'paused' : 'ready';
    this.notice.value = FAILED.training;
    this.showProblem('training', error);
  }

  #workerFailed(error: KaisekiError): void {
    this.#closeLibrary();
    this.phase.value = 'broken';
    this.notice.value = FAILED.engine;
    this.showProblem('engine', error);
  }

  #closeLibrary(): void {
    const kaiseki = this.kaiseki;
    this.kaiseki = null;
    this.history.run(false);
    this.#training = this.#optimizer = this.#originalData = this.network.value = this.data.value = null;
    kaiseki?.close();
  }
}
