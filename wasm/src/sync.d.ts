// SPDX-License-Identifier: MIT
// The types of kaiseki/sync. Operations run in the calling thread, so a page should call them from its own worker.
// Shapes are row-major. Every method that makes a tensor returns a new one.

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
  Shape,
  TypedArray,
  UniformOptions,
  Values,
  WeightsFormat,
} from './common.js';

export { KaisekiError } from './common.js';
export type * from './common.js';

/** A tensor. Computation uses f32. */
export class Tensor implements Disposable {
  private constructor();
  readonly shape: Shape;
  readonly dtype: DType;
  /** Number of elements. */
  readonly size: number;
  readonly disposed: boolean;
  dispose(): void;

  /** Copies the elements, row-major. */
  toTypedArray(): TypedArray;
  /** The only element. Throws a ShapeError if the tensor has more elements or none. */
  item(): number;
  /** Overwrites all elements, row-major. If the tensor is contiguous, views of the same storage change too. */
  set(values: Values): this;

  clone(): Tensor;
  /** One dimension may be -1. */
  reshape(shape: Shape): Tensor;
  /** Adds leading dimensions and repeats dimensions of length 1. */
  broadcastTo(shape: Shape): Tensor;
  /** A view of `length` indices of an axis. */
  slice(axis: number, start: number, length: number): Tensor;
  /** A view with the axes in another order. */
  permute(axes: readonly number[]): Tensor;
  /** A view with the last two dimensions swapped. */
  transpose(): Tensor;

  /** Multiplies [m, k] by [k, n]. Dimensions before the last two are a batch, and broadcast. */
  matmul(other: Tensor, options?: MatmulOptions): Tensor;
  /** Element by element, with NumPy's broadcasting. */
  add(other: Tensor | number): Tensor;
  sub(other: Tensor | number): Tensor;
  mul(other: Tensor | number): Tensor;
  div(other: Tensor | number): Tensor;
  /** Reduces the given axes. Default: all of them. */
  sum(axes?: readonly number[], keepDims?: boolean): Tensor;
  mean(axes?: readonly number[], keepDims?: boolean): Tensor;
  max(axes?: readonly number[], keepDims?: boolean): Tensor;
  min(axes?: readonly number[], keepDims?: boolean): Tensor;
  /** The first index (i32) of the extreme value along an axis. The axis is removed. */
  argmax(axis?: number): Tensor;
  argmin(axis?: number): Tensor;
  softmax(axis?: number): Tensor;
  logSoftmax(axis?: number): Tensor;
  /** Selects elements along an axis (default 0). `indices` is i32. Its shape takes the place of the axis. */
  take(indices: Tensor, axis?: number): Tensor;
}

export class Optimizer implements Disposable {
  private constructor();
  learningRate: number;
  readonly disposed: boolean;
  dispose(): void;

  /** The bytes of its state for a network, such as the velocities, in the format safetensors. */
  saveState(network: Network): Uint8Array;
  /** Continues from a saved state. Throws if it is of another optimizer or of another network. */
  loadState(network: Network, bytes: Uint8Array): void;
}

/**
 * Computes tickets of distributed training (docs/protocol-tensors.md), as a node does, without the network connection.
 */
export class TrainingNode implements Disposable {
  private constructor();
  readonly disposed: boolean;
  dispose(): void;
  /** SHA-256 of the blobs that run() needs and does not have. */
  missing(ticket: Uint8Array): string[];
  /** Throws an Error if the bytes have another hash. */
  addBlob(hash: string, bytes: Uint8Array): void;
  /**
   * Returns the result's bytes. Throws an Error, before it makes the network, if the ticket would need more than
   * `memoryBytes`.
   */
  run(ticket: Uint8Array, memoryBytes?: number): Uint8Array;
  /** Fetches the missing blobs, then runs the ticket. */
  compute(ticket: Uint8Array, fetchBlob: (hash: string) => Promise<Uint8Array>): Promise<Uint8Array>;
}

export interface Parameter {
  /** "conv1.weight" */
  name: string;
  /** Shares the network's storage. Writing it changes the network. */
  value: Tensor;
}

export class Network implements Disposable {
  private constructor();
  /** The network in Kaiseki's format, without weights. */
  readonly json: { recipe?: Recipe };
  /** The layers in order with the shapes of their outputs, and the shapes of a sample and of its output. */
  readonly summary: { layers: LayerSummary[]; inputShape: Shape; outputShape: Shape };
  /**
   * Whether the network's source, initialize() or loadWeights() set the weights. A new network without weights starts
   * as initialize(0) makes it.
   */
  readonly hasWeights: boolean;
  /** Every read makes new tensors. */
  readonly parameters: Parameter[];
  readonly disposed: boolean;
  dispose(): void;

  /** Draws all parameters again. */
  initialize(seed?: number): void;
  /**
   * The output for a batch [n, ...]. u8 becomes f32 in 0..1, as in trainStep(). If the network ends in a classification
   * loss, the output is probabilities.
   */
  predict(x: Tensor): Tensor;
  /**
   * Runs one step on a batch. Targets are i32 labels [n], or f32 of the output's shape. Returns the mean loss and the
   * number of correct predictions before the step.
   * If a step fails, the optimizer's state may be incomplete: make a new optimizer.
   */
  trainStep(optimizer: Optimizer, x: Tensor, targets: Tensor, learningRate?: number): { loss: number; correct: number };
  /** Computes the gradients of a batch. Returns the same figures. step() uses the gradients. */
  backward(x: Tensor, targets: Tensor): { loss: number; correct: number };
  /** All gradients of backward() as one tar buffer. Send it to another program, which adds it with addTar(). */
  gatherTar(): Uint8Array;
  /** Adds the gradients of another network's gatherTar(). Throws, and changes nothing, for other bytes. */
  addTar(tar: Uint8Array): void;
  /** Runs the optimizer's step with the gradients of backward() and addTar(). */
  step(optimizer: Optimizer, learningRate?: number): void;
  evaluate(data: Data, options?: { batchSize?: number }): Evaluation;
  /** The outputs of the named layers for a batch. */
  activations(x: Tensor, layers: readonly string[]): Tensor[];
  /** The bytes of a weights file, which the native library and command read too. */
  saveWeights(format?: WeightsFormat): Uint8Array;
  /**
   * Reads any of the three formats by content. Returns a report. With `strict`, throws if weights are missing or
   * unknown.
   */
  loadWeights(bytes: Uint8Array, options?: { strict?: boolean }): string;
}

/** Images u8 [n, channels, height, width], or f32 [n, ...]. Labels i32 [n], or f32 of the output's shape. */
export interface Data extends Normalization {
  images: Tensor;
  labels: Tensor;
}

export interface Kaiseki {
  /** The number of threads for operations. Results do not depend on it. */
  readonly threads: number;

  tensor(values: Values, shape?: Shape, dtype?: DType): Tensor;
  /** Uninitialized. */
  empty(shape: Shape, dtype?: DType): Tensor;
  /** In [low, high). */
  uniform(shape: Shape, options?: UniformOptions): Tensor;
  normal(shape: Shape, options?: NormalOptions): Tensor;

  /** elementwise('a*x + y', {a: 2, x, y}), in one pass over memory. */
  elementwise(expression: string, bindings: Record<string, Tensor | number>): Tensor;
  concatenate(parts: readonly Tensor[], axis?: number): Tensor;
  /** x [n, c, h, w], filter [k, c/groups, r, s], bias [k]. */
  conv2d(
    x: Tensor,
    filter: Tensor,
    options?: { bias?: Tensor; stride?: Pair; padding?: Pair; dilation?: Pair; groups?: number },
  ): Tensor;
  maxPool2d(x: Tensor, options?: PoolOptions): Tensor;
  averagePool2d(x: Tensor, options?: PoolOptions): Tensor;

  /**
   * From JSON, as text or as an object, or from the bytes of an ONNX file. The JSON is Kaiseki's or Sukiyaki's format,
   * and may contain weights.
   */
  network(source: string | object | Uint8Array): Network;
  /** sgd, momentum, nesterov, adagrad, rmsprop, adam or adamw. */
  optimizer(name?: string, options?: OptimizerOptions): Optimizer;
  /** `cacheBytes`: the limit of the blob cache. Default: 512 MiB. */
  trainingNode(options?: { cacheBytes?: number }): TrainingNode;
  /** Selects samples by index. Their images are normalized, f32. */
  batch(data: Data, rows: ArrayLike<number>): Data;
  /**
   * The input of a network for pictures [n, channels, ...], f32: (x / 255 - mean) / std of u8, and (x - mean) / std of
   * f32. train() and evaluate() do this for a data set.
   */
  normalize(images: Tensor, normalization?: Normalization): Tensor;
  /**
   * Built-in digits that look handwritten: images u8 [count, 1, 28, 28], labels i32 [count]. Labels cycle through the classes.
   */
  digits(options?: DigitsOptions): Data;
  /** The bytes of MNIST's files, unpacked: images u8 [n, 1, height, width], labels i32 [n]. */
  mnist(images: Uint8Array, labels: Uint8Array): Data;
  /** The bytes of CIFAR-10's binary batches: images u8 [n, 3, 32, 32], labels i32 [n]. */
  cifar10(bytes: Uint8Array): Data;
  /** A JPEG or PNG, scaled to cover width x height and cropped: u8 [1, channels, height, width]. */
  picture(bytes: Uint8Array, options: PictureOptions): Tensor;

  /**
   * Disposes the objects that `body` made. Keeps those that it returns, directly or as values of an object or array.
   */
  tidy<T>(body: () => T): T;
  /**
   * Shared memory, in the variant with threads. If another thread stores 1 here with Atomics, the running operation
   * ends soon. It and all later ones throw an error of the kind `Closed`.
   */
  readonly stopFlag?: Int32Array;
  memory(): Memory;
  /** Frees cached memory. */
  trim(): void;
  /** Ends the threads. Later calls fail. */
  close(): void;
}

/**
 * Loads the library. Threads need Node, or a page that is `crossOriginIsolated`. Elsewhere, and with `threads: 1`, the
 * variant without threads is loaded. Default: the number of cores. With `stoppable`, one thread uses the variant with
 * threads too, because it has a `stopFlag`. `lent` is the port of lendThreads() in the page of this worker.
 */
export function load(options?: { threads?: number; stoppable?: boolean; lent?: MessagePort }): Promise<Kaiseki>;
