// SPDX-License-Identifier: MIT
// The types of the package kaiseki. All work runs in a worker, and every call returns a promise.
// Calls take effect in the order in which they are made. Training and evaluation take turns with later calls. An error
// rejects the promise of its call.
import type {
  DType,
  DigitsOptions,
  Disposable,
  Evaluation,
  LayerSummary,
  MatmulOptions,
  Memory,
  NormalOptions,
  Normalization,
  OptimizerOptions,
  Pair,
  PictureOptions,
  PoolOptions,
  Recipe,
  Schedule,
  Shape,
  TypedArray,
  UniformOptions,
  Values,
  WeightsFormat,
} from './common.js';
import type { KaisekiError } from './common.js';

export { KaisekiError } from './common.js';
export type * from './common.js';

/** A tensor in the worker. Computation uses f32. */
export class Tensor implements Disposable {
  private constructor();
  readonly shape: Shape;
  readonly dtype: DType;
  /** Number of elements. */
  readonly size: number;
  readonly disposed: boolean;
  dispose(): void;

  /** Copies the elements, row-major. */
  toTypedArray(): Promise<TypedArray>;
  /** The only element. Rejects with a ShapeError if the tensor has more elements or none. */
  item(): Promise<number>;
  /** Overwrites all elements, row-major. If the tensor is contiguous, views of the same storage change too. */
  set(values: Values): Promise<void>;

  clone(): Promise<Tensor>;
  /** One dimension may be -1. */
  reshape(shape: Shape): Promise<Tensor>;
  /** Adds leading dimensions and repeats dimensions of length 1. */
  broadcastTo(shape: Shape): Promise<Tensor>;
  /** A view of `length` indices of an axis. */
  slice(axis: number, start: number, length: number): Promise<Tensor>;
  /** A view with the axes in another order. */
  permute(axes: readonly number[]): Promise<Tensor>;
  /** A view with the last two dimensions swapped. */
  transpose(): Promise<Tensor>;

  /** Multiplies [m, k] by [k, n]. Dimensions before the last two are a batch, and broadcast. */
  matmul(other: Tensor, options?: MatmulOptions): Promise<Tensor>;
  /** Element by element, with NumPy's broadcasting. */
  add(other: Tensor | number): Promise<Tensor>;
  sub(other: Tensor | number): Promise<Tensor>;
  mul(other: Tensor | number): Promise<Tensor>;
  div(other: Tensor | number): Promise<Tensor>;
  /** Reduces the given axes. Default: all of them. */
  sum(axes?: readonly number[], keepDims?: boolean): Promise<Tensor>;
  mean(axes?: readonly number[], keepDims?: boolean): Promise<Tensor>;
  max(axes?: readonly number[], keepDims?: boolean): Promise<Tensor>;
  min(axes?: readonly number[], keepDims?: boolean): Promise<Tensor>;
  /** The first index (i32) of the extreme value along an axis. The axis is removed. */
  argmax(axis?: number): Promise<Tensor>;
  argmin(axis?: number): Promise<Tensor>;
  softmax(axis?: number): Promise<Tensor>;
  logSoftmax(axis?: number): Promise<Tensor>;
  /** Selects elements along an axis (default 0). `indices` is i32. Its shape takes the place of the axis. */
  take(indices: Tensor, axis?: number): Promise<Tensor>;
}

export class Optimizer implements Disposable {
  private constructor();
  /** The default of trainStep() and train(). */
  readonly learningRate: number;
  readonly disposed: boolean;
  dispose(): void;

  /** The bytes of its state for a network, such as the velocities, in the format safetensors. */
  saveState(network: Network): Promise<Uint8Array>;
  /** Continues from a saved state. Rejects if it is of another optimizer or of another network. */
  loadState(network: Network, bytes: Uint8Array): Promise<void>;
}

/** Samples for training or evaluation. */
export interface Data extends Normalization {
  /** Pictures u8 [n, channels, height, width], or f32 [n, ...]. u8 takes a quarter of the memory. */
  images: Tensor;
  /** i32 [n], or f32 of the output's shape. */
  labels: Tensor;
}

export interface Parameter {
  /** "conv1.weight" */
  name: string;
  /** Shares the network's storage. Writing it changes the network, and training changes it. */
  value: Tensor;
}

export class Network implements Disposable {
  private constructor();
  /** The network in Kaiseki's format, without weights. */
  readonly json: { recipe?: Recipe };
  /** The layers in order, with the shapes of their outputs. */
  readonly layers: readonly LayerSummary[];
  /** The shape of one sample: [channels, height, width]. The shape of its output: [classes]. */
  readonly inputShape: Shape;
  readonly outputShape: Shape;
  /**
   * Whether the network's source, initialize() or loadWeights() set the weights. A new network without weights starts
   * as initialize(0) makes it.
   */
  readonly hasWeights: boolean;
  readonly disposed: boolean;
  dispose(): void;

  /** Draws all parameters again. */
  initialize(seed?: number): Promise<void>;
  /**
   * The output for a batch [n, ...]. u8 becomes f32 in 0..1, as in trainStep(). If the network ends in a classification
   * loss, the output is probabilities.
   */
  predict(x: Tensor): Promise<Tensor>;
  /** The outputs of the named layers for a batch. */
  activations(x: Tensor, layers: readonly string[]): Promise<Tensor[]>;
  /**
   * Runs one step on a batch. Returns the mean loss and the number of correct predictions before the step.
   * If a step fails, the optimizer's state may be incomplete: make a new optimizer.
   */
  trainStep(
    optimizer: Optimizer,
    x: Tensor,
    targets: Tensor,
    learningRate?: number,
  ): Promise<{ loss: number; correct: number }>;
  /** Computes the gradients of a batch. Resolves to the same figures. step() uses the gradients. */
  backward(x: Tensor, targets: Tensor): Promise<{ loss: number; correct: number }>;
  /** All gradients of backward() as one tar buffer. Send it to another program, which adds it with addTar(). */
  gatherTar(): Promise<Uint8Array>;
  /** Adds the gradients of another network's gatherTar(). Rejects, and changes nothing, for other bytes. */
  addTar(tar: Uint8Array): Promise<void>;
  /** Runs the optimizer's step with the gradients of backward() and addTar(). */
  step(optimizer: Optimizer, learningRate?: number): Promise<void>;
  /** Runs batch by batch. Other calls are answered between batches. */
  evaluate(data: Data, options?: { batchSize?: number; signal?: AbortSignal }): Promise<Evaluation>;
  /** Every call makes new tensors. */
  parameters(): Promise<Parameter[]>;
  /** The bytes of a weights file, which the native library and command read too. */
  saveWeights(format?: WeightsFormat): Promise<Uint8Array>;
  /**
   * Reads any of the three formats, or ONNX, by content. Resolves to a report. With `strict`, rejects if weights are
   * missing or unknown. `signal` stops the reading of a Blob and leaves the weights as they are.
   */
  loadWeights(
    bytes: Uint8Array | ArrayBuffer | Blob,
    options?: { strict?: boolean; signal?: AbortSignal },
  ): Promise<string>;
}

export interface TrainOptions {
  /** Default 64. The last batch of an epoch may be smaller. */
  batchSize?: number;
  /** When training ends. With both, the first limit counts. With neither, it runs until `signal`. */
  epochs?: number;
  steps?: number;
  /** Default: the optimizer's. */
  learningRate?: number;
  /** Changes the learning rate from step to step, from `learningRate`. Training ends with the schedule. */
  schedule?: Schedule;
  /** Random changes of pictures: none, or flip, crop and crop:PADDING joined by commas. Default none. */
  augment?: string;
  /** Whether each epoch has a new order, which depends on the seed. Default true. */
  shuffle?: boolean;
  seed?: number;
  /** Ends training after the current step and rejects `finished` with its reason. */
  signal?: AbortSignal;
  /** Called after every step, in this thread. */
  onStep?(progress: Progress): void;
}

export interface Progress {
  /** The number of completed steps and epochs. */
  step: number;
  epoch: number;
  /** The number of samples in all steps so far. */
  samples: number;
  /** The batch's loss before the step. */
  loss: number;
  /** 0 to 1. NaN without labels. */
  accuracy: number;
  /** An average over about the last second. Pauses do not count. */
  imagesPerSecond: number;
  learningRate: number;
  batchSize: number;
}

/** A training in progress. */
export interface Training {
  /** Resolves to the last step's progress. Rejects if training is aborted or fails. */
  readonly finished: Promise<Progress>;
  /** Takes effect at the next step. With a schedule, it is the rate that the schedule starts from. */
  learningRate: number;
  batchSize: number;
  readonly paused: boolean;
  /** Resolves when no step is in progress. */
  pause(): Promise<void>;
  resume(): void;
}

/** An address to fetch, or the bytes. gzip is unpacked. */
export type Source = string | URL | Blob | ArrayBuffer | Uint8Array;

export interface FetchOptions {
  signal?: AbortSignal;
  /** The bytes received of all files. `total` is 0 if a server does not send the length. */
  onProgress?(progress: { loaded: number; total: number }): void;
}

export interface Kaiseki {
  /** The number of threads for operations. Results do not depend on it. */
  readonly threads: number;
  /** Resolves when the worker has ended: with undefined after close(), with an error if it failed. */
  readonly closed: Promise<KaisekiError | undefined>;

  /**
   * With `transfer`, an array that covers its whole buffer moves to the worker without a copy. It is empty here
   * afterwards.
   */
  tensor(values: Values, shape?: Shape, dtype?: DType, options?: { transfer?: boolean }): Promise<Tensor>;
  /** Uninitialized. */
  empty(shape: Shape, dtype?: DType): Promise<Tensor>;
  /** In [low, high). */
  uniform(shape: Shape, options?: UniformOptions): Promise<Tensor>;
  normal(shape: Shape, options?: NormalOptions): Promise<Tensor>;

  /** elementwise('a*x + y', {a: 2, x, y}), in one pass over memory. */
  elementwise(expression: string, bindings: Record<string, Tensor | number>): Promise<Tensor>;
  concatenate(parts: readonly Tensor[], axis?: number): Promise<Tensor>;
  /** x [n, c, h, w], filter [k, c/groups, r, s], bias [k]. */
  conv2d(
    x: Tensor,
    filter: Tensor,
    options?: { bias?: Tensor; stride?: Pair; padding?: Pair; dilation?: Pair; groups?: number },
  ): Promise<Tensor>;
  maxPool2d(x: Tensor, options?: PoolOptions): Promise<Tensor>;
  averagePool2d(x: Tensor, options?: PoolOptions): Promise<Tensor>;

  /**
   * From JSON, as text or as an object, or from the bytes of an ONNX file. The JSON is Kaiseki's or Sukiyaki's format,
   * and may contain weights.
   */
  network(source: string | object | Uint8Array): Promise<Network>;
  /** sgd, momentum, nesterov, adagrad, rmsprop, adam or adamw. */
  optimizer(name?: string, options?: OptimizerOptions): Promise<Optimizer>;
  /** Starts training in the worker. Other calls are answered between steps. */
  train(network: Network, optimizer: Optimizer, data: Data, options?: TrainOptions): Training;

  /**
   * The input of a network for pictures [n, channels, ...], f32: (x / 255 - mean) / std of u8, and (x - mean) / std of
   * f32. train() and evaluate() do this for a data set.
   */
  normalize(images: Tensor, normalization?: Normalization): Promise<Tensor>;
  /**
   * Built-in digits that look handwritten: images u8 [count, 1, 28, 28], labels i32 [count]. Labels cycle through the classes.
   */
  digits(options?: DigitsOptions): Promise<Data>;
  /** MNIST's files: images u8 [n, 1, height, width], labels i32 [n]. */
  mnist(files: { images: Source; labels: Source }, options?: FetchOptions): Promise<Data>;
  /** CIFAR-10's binary batches, concatenated: images u8 [n, 3, 32, 32], labels i32 [n]. */
  cifar10(files: readonly Source[], options?: FetchOptions): Promise<Data>;
  /** A JPEG or PNG, scaled to cover width x height and cropped: u8 [1, channels, height, width]. */
  picture(file: Source, options: PictureOptions & FetchOptions): Promise<Tensor>;

  /**
   * Disposes the objects that `scope` and its objects made, also those that they make after `body` has ended.
   * Keeps the objects that `body` returns, directly or as values of an object or array: `kaiseki.tidy(async (scope) =>
   * (await scope.uniform([9])).sum())`.
   */
  tidy<T>(body: (scope: Kaiseki) => Promise<T>): Promise<T>;
  memory(): Promise<Memory>;
  /** Frees cached memory. */
  trim(): Promise<void>;
  /** Ends the worker and its threads. Pending calls are rejected, and later calls fail. */
  close(): void;
}

/**
 * Starts a worker and loads the library in it. Threads need Node, or a page that is `crossOriginIsolated`. Elsewhere,
 * and with `threads: 1`, the variant without threads is loaded. Default: the number of cores. In a page, `onProgress` gets
 * the bytes of the module that were received, unpacked.
 */
export function load(options?: { threads?: number; onProgress?(progress: { loaded: number }): void }): Promise<Kaiseki>;

/**
 * Makes threads in this page for a library that runs in a worker of the page. Send `port` to the worker in the transfer
 * list, and load kaiseki/sync there with `{ threads, lent: port }`. A worker can also make its threads itself, but in
 * Firefox it then sometimes waits forever. If a thread fails, `onFailure` gets the reason, and all operations throw an
 * error of the kind `Closed`. Then end the worker. Call `end()` after the worker has ended.
 */
export function lendThreads(onFailure?: (reason: string) => void): { port: MessagePort; end(): void };
