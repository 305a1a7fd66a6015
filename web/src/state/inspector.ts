// SPDX-License-Identifier: MIT
// A look into the network while it trains: what it thinks of one picture, what its first layer has learnt and what layers
// answer, and how it does on pictures that it never saw. Asked between steps, and never more than once at a time.
import { batch, computed, effect, signal } from '@preact/signals';
import type { LayerSummary, Network, Tensor } from 'kaiseki';
import { fit, asPicture, volume, type Picture } from '../logic/fit';
import { sample } from './dataset';
import type { Session } from './session';

export interface Shown {
  pixels: Float32Array<ArrayBuffer>;
  shape: Picture;
  /** Its class, of a picture of the test set. */
  label?: number;
}

export interface Planes {
  values: Float32Array;
  count: number;
  shape: readonly [channels: number, height: number, width: number];
}

/** More tiles than these would be too small to see. */
const TILES = 64;
/** Values that are fetched from the worker at once, again and again: more would hold up the page. */
const MOST = 2 ** 22;
const STEPS_BETWEEN_TESTS = 100;

const few = (shape: readonly number[]) => volume(shape) <= MOST;

export class Inspector {
  readonly picture = signal<Shown | null>(null);
  readonly probabilities = signal<Float32Array | null>(null);
  readonly filters = signal<Planes | null>(null);
  readonly activations = signal<Planes | null>(null);
  readonly chosen = signal('');
  /** Layers that have something to show, but not too much, and the one that is shown. */
  readonly layers = computed(() =>
    this.session.network.value?.layers.filter(({ shape }) => shape.length > 0 && few(shape)) ?? []);
  readonly layer = computed<LayerSummary | undefined>(() =>
    this.layers.value.find((layer) => layer.name === this.chosen.value) ?? this.layers.value[0]);

  /** The picture or the answer is too much to fetch. */
  readonly tooMuch = computed(() => {
    const network = this.session.network.value;
    return network !== null && !(few(network.inputShape) && few(network.outputShape));
  });

  #asking = false;
  #again = false;
  /** The one whose answer counts. */
  #evaluation: object | null = null;
  #tested = 0;

  constructor(private readonly session: Session) {
    session.history.onProgress = () => {
      this.refresh();
      const { step } = session.history;
      if (step.value - this.#tested >= this.#between()) void this.evaluate();
    };
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

  /** An answer that is on its way is of other weights. */
  outdate(): void {
    this.#evaluation = null;
  }

  clear(): void {
    this.outdate();
    this.#tested = 0;
    batch(() => { this.probabilities.value = this.filters.value = this.activations.value = null; });
  }

  /** No picture: paper to draw on. */
  wipe = (): void => batch(() => { this.picture.value = this.probabilities.value = this.activations.value = null; });

  /** The picture again where it was drawn, another one else: for another network or other data. */
  async renew(): Promise<void> {
    const picture = this.picture.value;
    if (picture && picture.label === undefined && this.session.data.value?.digits) this.refresh();
    else await this.sample();
  }

  /** Another picture of the test set. */
  sample = async (): Promise<void> => {
    const { data } = this.session;
    const set = data.value;
    if (!set) return;
    const count = set.test.images.shape[0];
    try {
      const { pixels, label } = await sample(set, Math.floor(Math.random() * count));
      if (data.value === set) this.picture.value = { pixels, label, shape: set.shape };
    } catch (error) {
      if (data.value === set) this.session.tell('data', error);
    }
  };

  async evaluate(): Promise<void> {
    const { data, network, history } = this.session;
    const using = network.value;
    if (this.#evaluation || !using || !data.value) return;
    const mine = this.#evaluation = {}, counts = () => this.#evaluation === mine && network.value === using;
    this.#tested = history.step.value;
    try {
      const found = await using.evaluate(data.value.test, { batchSize: 200 });
      if (counts()) history.evaluated(found);
    } catch (error) {
      if (counts()) this.session.tell('training', error);
    } finally {
      if (this.#evaluation === mine) this.#evaluation = null;
    }
  }

  /** Asks about the picture; while an answer is awaited, once more after it. */
  refresh(): void {
    this.#again = true;
    if (!this.#asking) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    while (this.#again) {
      this.#again = false;
      const network = this.session.network.peek();
      if (!network) break;
      try {
        await this.#look(network);
      } catch (error) {
        if (this.session.network.peek() === network) this.session.tell('training', error);
      }
    }
    this.#asking = false;
  }

  async #look(network: Network): Promise<void> {
    const { kaiseki } = this.session;
    const picture = this.picture.peek(), layer = this.layer.peek();
    if (!kaiseki || !picture || this.tooMuch.peek()) return;
    const pixels = fit(picture.pixels, picture.shape, asPicture(network.inputShape));
    // Every answer waits for a step of training: asked together, they wait for the same one. All are awaited, also after one
    // that failed, so that none is left behind.
    const asked: Tensor[] = [];
    const keep = async (tensors: Promise<Tensor[]>) => {
      const made = await tensors;
      asked.push(...made);
      return made;
    };
    try {
      const [[x], parameters] = await settled([
        keep(kaiseki.tensor(pixels, [1, ...network.inputShape]).then((tensor) => [tensor])),
        keep(network.parameters().then((all) => all.map(({ value }) => value))),
      ]);
      const matrix = parameters.find(({ shape }) => shape.length > 1);
      const first = matrix && few(matrix.shape) ? matrix : undefined;
      const [[output], [given], weights] = await settled([
        keep(network.predict(x).then((tensor) => [tensor])), layer ? keep(network.activations(x, [layer.name])) : [], first?.toTypedArray(),
      ]);
      const [probabilities, values] = await Promise.all([output.toTypedArray(), given?.toTypedArray()]) as [Float32Array, Float32Array | undefined];
      if (this.session.network.peek() !== network || !this.picture.peek()) return;
      batch(() => {
        this.probabilities.value = probabilities;
        this.activations.value = layer && values ? planes(values, layer.shape) : null;
        this.filters.value = first ? filters(weights as Float32Array, first.shape, network.inputShape) : null;
      });
    } finally {
      for (const tensor of asked) tensor.dispose();
    }
  }
}

/** What Promise.all gives, but not before all of them are done. */
async function settled<T extends readonly unknown[] | []>(parts: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(parts);
  return Promise.all(parts);
}

/** The first layer's weights: a picture for each output where their inputs are one, else a plane for each of them. */
function filters(values: Float32Array, [outputs, ...rest]: readonly number[], input: readonly number[]): Planes {
  const [channels, height, width] = rest.length === 3 ? rest : rest[0] === volume(input) ? input : [1, 1, rest[0]];
  const colours = channels === 3 ? 3 : 1;
  const shape = [colours, height, width] as const, count = Math.min(outputs * channels / colours, TILES);
  return { values: values.subarray(0, count * volume(shape)), count, shape };
}

/** What a layer gives for one picture: a plane for each channel; a vector is one plane, nearly square. */
function planes(values: Float32Array, shape: readonly number[]): Planes {
  if (shape.length === 3 && shape[1] * shape[2] > 1)
    return { values, count: Math.min(shape[0], TILES), shape: [1, shape[1], shape[2]] };
  return { values, count: values.length, shape: [1, 1, 1] };
}
