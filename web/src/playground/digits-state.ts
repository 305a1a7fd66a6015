// SPDX-License-Identifier: MIT
// The state of the digits: their pictures, their principal components, and the picture that is chosen.
import { batch, computed, signal } from '@preact/signals';
import { MNIST_FILES } from '../logic/files';
import { picturesOf, readIdx, unpack, type Pictures } from '../logic/idx';
import { middles, placesOf } from '../logic/scatter';
import type { Components } from './answers';
import type { Learner } from './learner';

/** `kaiseki serve` has this folder if its machine has MNIST. Others answer 404. */
const SERVED = '/data/mnist/';
const BUILT_IN = 1500,
  MOST_PICTURES = 4000;

export type Origin = 'built-in' | 'served' | 'files';

export class DigitsState {
  readonly origin = signal<Origin>('built-in');
  readonly pictures = signal<Pictures | null>(null);
  readonly components = signal<Components | null>(null);
  readonly across = signal(0);
  readonly down = signal(1);
  /** The number of the picture that is shown. */
  readonly chosen = signal(0);
  /** The class that is drawn in front. Null: all. */
  readonly front = signal<number | null>(null);
  readonly busy = signal(false);
  readonly problem = signal('');
  readonly places = computed(() => {
    const components = this.components.value;
    return components ? placesOf(components.places, components.ratios.length, this.across.value, this.down.value) : [];
  });
  readonly middles = computed(() => middles(this.places.value, this.pictures.value?.labels ?? []));
  #opened = false;
  #runs = 0;
  #used: Origin = 'built-in';

  constructor(private readonly learner: Learner) {}

  /** Loads the built-in digits at the first visit of the tab. */
  open(): void {
    if (this.#opened) return;
    this.#opened = true;
    void this.use('built-in');
  }

  /** Loads pictures. If that fails, the earlier ones stay. A later call wins. */
  async use(origin: Origin, files: readonly File[] = []): Promise<void> {
    const run = ++this.#runs,
      last = this.#used;
    batch(() => {
      this.origin.value = origin;
      this.busy.value = true;
      this.problem.value = '';
    });
    try {
      const pictures = await this.#read(origin, files),
        components = await this.learner.components(pictures);
      if (run !== this.#runs) return;
      this.#used = origin;
      batch(() => {
        this.pictures.value = pictures;
        this.components.value = components;
        [this.across.value, this.down.value] = [0, 1];
        this.chosen.value = 0;
        this.front.value = null;
      });
    } catch (error) {
      if (run !== this.#runs) return;
      this.origin.value = last;
      this.problem.value = (error as Error).message;
    } finally {
      if (run === this.#runs) this.busy.value = false;
    }
  }

  async #read(origin: Origin, files: readonly File[]): Promise<Pictures> {
    if (origin === 'built-in') return this.learner.digits(BUILT_IN);
    const sources = origin === 'served' ? await fetchServed() : await chosenFiles(files);
    const [images, labels] = await Promise.all(
      sources.map(async ({ name, bytes }) => readIdx(await unpack(new Uint8Array(bytes)), name)),
    );
    return picturesOf(images, labels, MOST_PICTURES);
  }
}

interface NamedBytes {
  name: string;
  bytes: ArrayBuffer;
}

/** The training set: a file of pictures and one of labels. */
async function fetchServed(): Promise<NamedBytes[]> {
  return Promise.all(
    MNIST_FILES.slice(0, 2).map(async (file) => {
      const name = `${file}.gz`,
        response = await fetch(SERVED + name);
      if (!response.ok) throw new Error('[mnist] This server has no MNIST. Select its files instead.');
      return { name, bytes: await response.arrayBuffer() };
    }),
  );
}

async function chosenFiles(files: readonly File[]): Promise<NamedBytes[]> {
  const found = ['images', 'labels'].map((what) => files.find(({ name }) => name.includes(what)));
  if (!found[0] || !found[1])
    throw new Error(
      `[mnist] expected ${MNIST_FILES[0]} and ${MNIST_FILES[1]}, also .gz, got ${files.map(({ name }) => name).join(', ')}`,
    );
  return Promise.all((found as File[]).map(async (file) => ({ name: file.name, bytes: await file.arrayBuffer() })));
}

/** The picture that the components give for picture i: the mean, plus each component times its value. */
export function rebuilt({ pictures, mean, places, ratios }: Components, i: number): Float32Array<ArrayBuffer> {
  const count = ratios.length;
  return Float32Array.from(mean, (value, at) => {
    let sum = value;
    for (let c = 0; c < count; ++c) sum += places[i * count + c] * pictures[c * mean.length + at];
    return Math.max(0, Math.min(1, sum));
  });
}
