// SPDX-License-Identifier: MIT
// The types of the package kaiseki. All work runs in a worker: what is called here gives promises. Calls take effect in the
// order in which they are made (training and evaluation take turns with later ones); errors reject the promise of their call.
import type {
  DType, DigitsOptions, Disposable, Evaluation, LayerSummary, MatmulOptions, Memory, NormalOptions, OptimizerOptions, Pair,
  PictureOptions, PoolOptions, Shape, TypedArray, UniformOptions, Values, WeightsFormat,
} from './common.js';
import type { KaisekiError } from './common.js';

export { KaisekiError } from './common.js';
export type * from './common.js';

/** A tensor in the worker; f32 is the type of computation. */
export class Tensor implements Disposable {
  private constructor();
  readonly shape: Shape;
  readonly dtype: DType;
  /** Number of elements. */
  readonly size: number;
  readonly disposed: boolean;
  dispose(): void;

  /** A copy of the elements, row-major. */
  toTypedArray(): Promise<TypedArray>;
  /** The only element. Rejects with a ShapeError where there are more or none. */
  item(): Promise<number>;
  /** Overwrites all elements, row-major; views of the same storage see it while it is contiguous. */
  set(values: Values): Promise<void>;

  clone(): Promise<Tensor>;
  /** One dimension may be -1. */
  reshape(shape: Shape): Promise<Tensor>;
  /** New dimensions lead; those of length 1 repeat. */
  broadcastTo(shape: Shape): Promise<Tensor>;
  /** A view of `length` indices of an axis. */
  slice(axis: number, start: number, length: number): Promise<Tensor>;
  /** A view with the axes in another order. */
  permute(axes: readonly number[]): Promise<Tensor>;
  /** The last two dimensions swapped. */
  transpose(): Promise<Tensor>;

  /** [m, k] times [k, n]; with rank 3 a batch leads. */
  matmul(other: Tensor, options?: MatmulOptions): Promise<Tensor>;
  /** Element by element, with NumPy's broadcasting. */
  add(other: Tensor | number): Promise<Tensor>;
  sub(other: Tensor | number): Promise<Tensor>;
  mul(other: Tensor | number): Promise<Tensor>;
  div(other: Tensor | number): Promise<Tensor>;
  /** Over some axes; over all where none is given. */
  sum(axes?: readonly number[], keepDims?: boolean): Promise<Tensor>;
  mean(axes?: readonly number[], keepDims?: boolean): Promise<Tensor>;
  max(axes?: readonly number[], keepDims?: boolean): Promise<Tensor>;
  min(axes?: readonly number[], keepDims?: boolean): Promise<Tensor>;
  /** The first index (i32) of the extreme value along an axis, which disappears. */
  argmax(axis?: number): Promise<Tensor>;
  argmin(axis?: number): Promise<Tensor>;
  softmax(axis?: number): Promise<Tensor>;
  logSoftmax(axis?: number): Promise<Tensor>;
  /** Rows by index; `rows` is i32 [count]. */
  gather(rows: Tensor): Promise<Tensor>;
}

export class Optimizer implements Disposable {
  private constructor();
  /** Of trainStep() and train() where they are given none. */
  readonly learningRate: number;
  readonly disposed: boolean;
  dispose(): void;
}

/** Samples to train or evaluate with. */
export interface Data {
  /** f32 [n, ...], or u8 [n, ...], which counts as f32 in 0..1: a quarter of the memory. */
  images: Tensor;
  /** i32 [n], or f32 of the output's shape. */
  labels: Tensor;
}

export interface Parameter {
  /** "conv1.weight" */
  name: string;
  /** Shares the network's storage: writing it changes the network, and training changes it. */
  value: Tensor;
}

export class Network implements Disposable {
  private constructor();
  /** The network in Kaiseki's format, without weights. */
  readonly json: object;
  /** The layers in order, with the shapes of what they give. */
  readonly layers: readonly LayerSummary[];
  /** Of one sample: [channels, height, width], and the classes. */
  readonly inputShape: Shape;
  readonly outputShape: Shape;
  /** Whether its weights came in what it was made of, or by initialize() or loadWeights(); every network begins as initialize(0) makes it. */
  readonly hasWeights: boolean;
  readonly disposed: boolean;
  dispose(): void;

  /** Draws all parameters anew. */
  initialize(seed?: number): Promise<void>;
  /** The output for a batch [n, ...]; probabilities where the network ends in a classification loss. */
  predict(x: Tensor): Promise<Tensor>;
  /** What layers give for a batch, by their names. */
  activations(x: Tensor, layers: readonly string[]): Promise<Tensor[]>;
  /**
   * One step on a batch. Gives the mean loss before the step, and how many labels the output named. A step that fails may
   * leave half of itself in the optimizer: make another.
   */
  trainStep(optimizer: Optimizer, x: Tensor, targets: Tensor, learningRate?: number): Promise<{ loss: number; correct: number }>;
  /** Batch by batch; other calls are answered in between. */
  evaluate(data: Data, options?: { batchSize?: number; signal?: AbortSignal }): Promise<Evaluation>;
  /** A new tensor for each at every call. */
  parameters(): Promise<Parameter[]>;
  /** The bytes of a file that the native library and command read too. */
  saveWeights(format?: WeightsFormat): Promise<Uint8Array>;
  /** Any of the three, or ONNX, by content. Gives a report; rejects when `strict` and something is missing or unknown. */
  loadWeights(bytes: Uint8Array | ArrayBuffer | Blob, options?: { strict?: boolean }): Promise<string>;
}

export interface TrainOptions {
  /** Default 64. The last batch of an epoch may be smaller. */
  batchSize?: number;
  /** How long; both, whichever comes first; neither: until `signal`. */
  epochs?: number;
  steps?: number;
  /** Default: the optimizer's. */
  learningRate?: number;
  /** The samples of each epoch in a new order, which depends on the seed. Default true. */
  shuffle?: boolean;
  seed?: number;
  /** Ends training after the step in progress, and rejects `finished` with its reason. */
  signal?: AbortSignal;
  /** Called after every step, here. */
  onStep?(progress: Progress): void;
}

export interface Progress {
  /** Steps and whole epochs done. */
  step: number;
  epoch: number;
  /** Of the batch, before the step. */
  loss: number;
  /** 0 to 1; NaN without labels. */
  accuracy: number;
  /** Over about the last second, pauses left out. */
  imagesPerSecond: number;
  learningRate: number;
  batchSize: number;
}

/** Training that runs. */
export interface Training {
  /** The last step's progress. Rejects when aborted, or with the error that ended it. */
  readonly finished: Promise<Progress>;
  /** From the next step on. */
  learningRate: number;
  batchSize: number;
  readonly paused: boolean;
  /** Resolves when no step is in progress any more. */
  pause(): Promise<void>;
  resume(): void;
}

/** Where bytes come from: an address to fetch, or what is there already. gzip is unpacked. */
export type Source = string | URL | Blob | ArrayBuffer | Uint8Array;

export interface FetchOptions {
  signal?: AbortSignal;
  /** Bytes received of all files; `total` is 0 while a server does not say. */
  onProgress?(progress: { loaded: number; total: number }): void;
}

export interface Kaiseki {
  /** Threads that operations use. Results do not depend on it. */
  readonly threads: number;
  /** Resolves when the worker has ended: with nothing after close(), with an error when it died. */
  readonly closed: Promise<KaisekiError | undefined>;

  /** With `transfer`, an array that is all of its buffer moves to the worker instead of being copied, and is empty here afterwards. */
  tensor(values: Values, shape?: Shape, dtype?: DType, options?: { transfer?: boolean }): Promise<Tensor>;
  /** Uninitialised. */
  empty(shape: Shape, dtype?: DType): Promise<Tensor>;
  /** In [low, high). */
  uniform(shape: Shape, options?: UniformOptions): Promise<Tensor>;
  normal(shape: Shape, options?: NormalOptions): Promise<Tensor>;

  /** elementwise('a*x + y', {a: 2, x, y}), in one pass over memory. */
  elementwise(expression: string, bindings: Record<string, Tensor | number>): Promise<Tensor>;
  concatenate(parts: readonly Tensor[], axis?: number): Promise<Tensor>;
  /** x [n, c, h, w], filter [k, c/groups, r, s], bias [k]. */
  conv2d(x: Tensor, filter: Tensor, options?: {
    bias?: Tensor; stride?: Pair; padding?: Pair; dilation?: Pair; groups?: number;
  }): Promise<Tensor>;
  maxPool2d(x: Tensor, options?: PoolOptions): Promise<Tensor>;
  averagePool2d(x: Tensor, options?: PoolOptions): Promise<Tensor>;

  /** From JSON, as text or parsed: Kaiseki's format or Sukiyaki's, weights inside it included; or the bytes of an ONNX file. */
  network(source: string | object | Uint8Array): Promise<Network>;
  /** sgd, momentum, nesterov, adagrad, rmsprop, adam or adamw. */
  optimizer(name?: string, options?: OptimizerOptions): Promise<Optimizer>;
  /** Starts training in the worker; other calls are answered between its steps. */
  train(network: Network, optimizer: Optimizer, data: Data, options?: TrainOptions): Training;

  /** Built-in digits like handwriting: images f32 [count, 1, 28, 28], labels i32 [count], the classes in turn. */
  digits(options?: DigitsOptions): Promise<Data>;
  /** MNIST's files: images u8 [n, 1, height, width], labels i32 [n]. */
  mnist(files: { images: Source; labels: Source }, options?: FetchOptions): Promise<Data>;
  /** CIFAR-10's binary batches, one after another: images u8 [n, 3, 32, 32], labels i32 [n]. */
  cifar10(files: readonly Source[], options?: FetchOptions): Promise<Data>;
  /** A JPEG or PNG, scaled to cover width x height and cut: f32 [1, channels, height, width] in 0..1. */
  picture(file: Source, options: PictureOptions & FetchOptions): Promise<Tensor>;

  /**
   * Disposes what `scope` made and what was made of that, also what comes of it after `body` has ended, except what `body`
   * gives, or the values of the object or array that it gives: `kaiseki.tidy(async (scope) => (await scope.uniform([9])).sum())`.
   */
  tidy<T>(body: (scope: Kaiseki) => Promise<T>): Promise<T>;
  memory(): Promise<Memory>;
  /** Gives freed bytes back for tensors of other sizes. */
  trim(): Promise<void>;
  /** Ends the worker and its threads. What is pending is rejected, and nothing works afterwards. */
  close(): void;
}

/**
 * Starts a worker and loads the library in it. Threads need a page that is `crossOriginIsolated`, or Node; elsewhere, and
 * with `threads: 1`, the variant without threads is loaded. The default is the machine's number of cores.
 */
export function load(options?: { threads?: number }): Promise<Kaiseki>;

/**
 * Threads of this page for a library that runs in a worker of it: send the worker `port`, as what is transferred, and load
 * kaiseki/sync there with `{ threads, lent: port }`. A worker can also make its threads itself, but in Firefox now and then
 * waits for ever when it does. `end()` ends them, after the worker.
 */
export function lendThreads(): { port: MessagePort; end(): void };
