// SPDX-License-Identifier: MIT
// Inspects the network during training. Shows its prediction for one picture, the first layer's weights, a layer's
// activations, and its accuracy on the test set. Requests run between steps, one at a time.
import { batch, computed, effect, signal, type Signal } from '@preact/signals';
import type { Kaiseki, LayerSummary, Network, Tensor } from 'kaiseki';
import { fit, asPicture, volume, type Picture } from '../logic/fit';
import { normalizationOf } from '../logic/recipe';
import { sample, type Dataset } from './dataset';
import type { History } from './history';

/** The part of a session that the inspector reads. */
export interface InspectedSession {
  readonly kaiseki: Kaiseki | null;
  readonly network: Signal<Network | null>;
  readonly data: Signal<Dataset | null>;
  readonly batchSize: Signal<number>;
  readonly history: History;
  /** Stores the training now, if it is paused. */
  keepPaused(): Promise<void>;
  /** Shows an error at its place in the page. */
  showProblem(place: 'data' | 'training', problem: unknown): void;
}

export interface Shown {
  pixels: Float32Array<ArrayBuffer>;
  shape: Picture;
  /** The class, for a picture of the test set. */
  label?: number;
}

export interface Planes {
  values: Float32Array;
  count: number;
  shape: readonly [channels: number, height: number, width: number];
}

/** More tiles would be too small to see. */
const MAX_TILES = 64;
/** The most values of one repeated request to the worker. More would block the page. */
const MAX_VALUES = 2 ** 22;
const STEPS_BETWEEN_TESTS = 100;

const isSmall = (shape: readonly number[]) => volume(shape) <= MAX_VALUES;

export class Inspector {
  readonly picture = signal<Shown | null>(null);
  readonly prediction = signal<Float32Array | null>(null);
  readonly filters = signal<Planes | null>(null);
  readonly activations = signal<Planes | null>(null);
  readonly chosen = signal('');
  /** The layers whose output can be shown, and the selected one. */
  readonly layers = computed(
    () => this.session.network.value?.layers.filter(({ shape }) => shape.length > 0 && isSmall(shape)) ?? [],
  );
  readonly layer = computed<LayerSummary | undefined>(
    () => this.layers.value.find((layer) => layer.name === this.chosen.value) ?? this.layers.value[0],
  );

  /** Whether the picture or the output is too large to request. */
  readonly tooLarge = computed(() => {
    const network = this.session.network.value;
    return network !== null && !(isSmall(network.inputShape) && isSmall(network.outputShape));
  });

  #requesting = false;
  #repeat = false;
  /** The current evaluation. The results of others are discarded. */
  #evaluation: object | null = null;
  #lastTestStep = 0;

  constructor(private readonly session: InspectedSession) {
    session.history.listeners.push(() => {
      this.refresh();
      const { step } = session.history;
      if (step.value - this.#lastTestStep >= this.#between()) void this.evaluate();
    });
    effect(() => {
      void [this.picture.value, this.layer.value];
      this.refresh();
    });
  }

  #between(): number {
    const data = this.session.data.value;
    const epoch = data ? Math.ceil(data.train.images.shape[0] / this.session.batchSize.value) : Infinity;
    return Math.min(epoch, STEPS_BETWEEN_TESTS);
  }

  /** Discards the evaluation in progress, because the weights have changed. */
  discardEvaluation(): void {
    this.#evaluation = null;
  }

  clear(): void {
    this.discardEvaluation();
    this.#lastTestStep = this.session.history.step.value;
    batch(() => {
      this.prediction.value = this.filters.value = this.activations.value = null;
    });
  }

  /** Clears the picture, so that the user can draw. */
  clearPicture = (): void =>
    batch(() => {
      this.picture.value = this.prediction.value = this.activations.value = null;
    });

  /** Updates after a change of the network or the data. Keeps a drawn digit, else takes another picture. */
  async updatePicture(): Promise<void> {
    const picture = this.picture.value;
    if (picture && picture.label === undefined && this.session.data.value?.digits) this.refresh();
    else await this.sample();
  }

  /** Shows another picture of the test set. */
  sample = async (): Promise<void> => {
    const { data } = this.session;
    const set = data.value;
    if (!set) return;
    const count = set.test.images.shape[0];
    try {
      const { pixels, label } = await sample(set, Math.floor(Math.random() * count));
      if (data.value === set) this.picture.value = { pixels, label, shape: set.shape };
    } catch (error) {
      if (data.value === set) this.session.showProblem('data', error);
    }
  };

  async evaluate(): Promise<void> {
    const { data, network, history } = this.session;
    const using = network.value;
    if (this.#evaluation || !using || !data.value) return;
    const evaluation = (this.#evaluation = {}),
      counts = () => this.#evaluation === evaluation && network.value === using;
    this.#lastTestStep = history.step.value;
    try {
      const found = await using.evaluate(data.value.test, { batchSize: 200 });
      if (!counts()) return;
      history.evaluated(found);
      await this.session.keepPaused();
    } catch (error) {
      if (counts()) this.session.showProblem('training', error);
    } finally {
      if (this.#evaluation === evaluation) this.#evaluation = null;
    }
  }

  /** Requests a prediction. If a request is in progress, repeats it afterwards. */
  refresh(): void {
    this.#repeat = true;
    if (!this.#requesting) void this.#requestAll();
  }

  async #requestAll(): Promise<void> {
    this.#requesting = true;
    while (this.#repeat) {
      this.#repeat = false;
      const network = this.session.network.peek();
      if (!network) break;
      try {
        await this.#request(network);
      } catch (error) {
        if (this.session.network.peek() === network) this.session.showProblem('training', error);
      }
    }
    this.#requesting = false;
  }

  async #request(network: Network): Promise<void> {
    const { kaiseki } = this.session;
    const picture = this.picture.peek(),
      layer = this.layer.peek();
    if (!kaiseki || !picture || this.tooLarge.peek()) return;
    const shape = asPicture(network.inputShape),
      how = normalizationOf(network.json.recipe ?? {}, shape[0]),
      bytes = Uint8Array.from(fit(picture.pixels, picture.shape, shape), (value) => Math.round(255 * value));
    // Each request waits for a training step. Requests that are sent together wait for the same step. All are awaited
    // even if one fails, so that their tensors can be freed.
    const tensorsToFree: Tensor[] = [];
    const keep = async (tensors: Promise<Tensor[]>) => {
      const made = await tensors;
      tensorsToFree.push(...made);
      return made;
    };
    const input = async () => {
      const [pixels] = await keep(kaiseki.tensor(bytes, [1, ...network.inputShape], 'u8').then((tensor) => [tensor]));
      return keep(kaiseki.normalize(pixels, how).then((tensor) => [tensor]));
    };
    try {
      const [[x], parameters] = await settled([
        input(),
        keep(network.parameters().then((all) => all.map(({ value }) => value))),
      ]);
      const matrix = parameters.find(({ shape }) => shape.length > 1);
      const first = matrix && isSmall(matrix.shape) ? matrix : undefined;
      const [[output], [given], weights] = await settled([
        keep(network.predict(x).then((tensor) => [tensor])),
        layer ? keep(network.activations(x, [layer.name])) : [],
        first?.toTypedArray(),
      ]);
      const [prediction, values] = (await Promise.all([output.toTypedArray(), given?.toTypedArray()])) as [
        Float32Array,
        Float32Array | undefined,
      ];
      if (this.session.network.peek() !== network || !this.picture.peek()) return;
      batch(() => {
        this.prediction.value = prediction;
        this.activations.value = layer && values ? planes(values, layer.shape) : null;
        this.filters.value = first ? filters(weights as Float32Array, first.shape, network.inputShape) : null;
      });
    } finally {
      for (const tensor of tensorsToFree) tensor.dispose();
    }
  }
}

/** As Promise.all, but waits for all promises even if one rejects. */
async function settled<T extends readonly unknown[] | []>(
  parts: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(parts);
  return Promise.all(parts);
}

/**
 * Converts the first layer's weights to pictures. There is one for each output if the input is a picture, else one
 * plane for each weight row.
 */
function filters(values: Float32Array, [outputs, ...rest]: readonly number[], input: readonly number[]): Planes {
  const [channels, height, width] = rest.length === 3 ? rest : rest[0] === volume(input) ? input : [1, 1, rest[0]];
  const colors = channels === 3 ? 3 : 1;
  const shape = [colors, height, width] as const,
    count = Math.min((outputs * channels) / colors, MAX_TILES);
  return { values: values.subarray(0, count * volume(shape)), count, shape };
}

/**
 * Converts a layer's output for one picture to planes, one for each channel. A vector becomes one nearly square plane.
 */
function planes(values: Float32Array, shape: readonly number[]): Planes {
  if (shape.length === 3 && shape[1] * shape[2] > 1)
    return { values, count: Math.min(shape[0], MAX_TILES), shape: [1, shape[1], shape[2]] };
  return { values, count: values.length, shape: [1, 1, 1] };
}
