// SPDX-License-Identifier: MIT
// The types of kaiseki/sync: operations run where they are called, so that a page calls them from a worker of its own.
// Shapes are row-major; every method that makes a tensor gives a new one.

import type {
  DType, DigitsOptions, Disposable, Evaluation, LayerSummary, MatmulOptions, Memory, NormalOptions, OptimizerOptions, Pair,
  PictureOptions, PoolOptions, Shape, TypedArray, UniformOptions, Values, WeightsFormat,
} from './common.js';

export { KaisekiError } from './common.js';
export type * from './common.js';

/** A tensor; f32 is the type of computation. */
export class Tensor implements Disposable {
  private constructor();
  readonly shape: Shape;
  readonly dtype: DType;
  /** Number of elements. */
  readonly size: number;
  readonly disposed: boolean;
  dispose(): void;

  /** A copy of the elements, row-major. */
  toTypedArray(): TypedArray;
  /** The only element. Throws a ShapeError where there are more or none. */
  item(): number;
  /** Overwrites all elements, row-major; views of the same storage see it while it is contiguous. */
  set(values: Values): this;

  clone(): Tensor;
  /** One dimension may be -1. */
  reshape(shape: Shape): Tensor;
  /** New dimensions lead; those of length 1 repeat. */
  broadcastTo(shape: Shape): Tensor;
  /** A view of `length` indices of an axis. */
  slice(axis: number, start: number, length: number): Tensor;
  /** A view with the axes in another order. */
  permute(axes: readonly number[]): Tensor;
  /** The last two dimensions swapped. */
  transpose(): Tensor;

  /** [m, k] times [k, n]; with rank 3 a batch leads. */
  matmul(other: Tensor, options?: MatmulOptions): Tensor;
  /** Element by element, with NumPy's broadcasting. */
  add(other: Tensor | number): Tensor;
  sub(other: Tensor | number): Tensor;
  mul(other: Tensor | number): Tensor;
  div(other: Tensor | number): Tensor;
  /** Over some axes; over all where none is given. */
  sum(axes?: readonly number[], keepDims?: boolean): Tensor;
  mean(axes?: readonly number[], keepDims?: boolean): Tensor;
  max(axes?: readonly number[], keepDims?: boolean): Tensor;
  min(axes?: readonly number[], keepDims?: boolean): Tensor;
  /** The first index (i32) of the extreme value along an axis, which disappears. */
  argmax(axis?: number): Tensor;
  argmin(axis?: number): Tensor;
  softmax(axis?: number): Tensor;
  logSoftmax(axis?: number): Tensor;
  /** Rows by index; `rows` is i32 [count]. */
  gather(rows: Tensor): Tensor;
}

export class Optimizer implements Disposable {
  private constructor();
  learningRate: number;
  readonly disposed: boolean;
  dispose(): void;
}

/** Computes tickets of training over a pool (docs/protocol-tensors.md): what a node does, without its network. */
export class TrainingNode implements Disposable {
  private constructor();
  readonly disposed: boolean;
  dispose(): void;
  /** SHA-256 of the blobs that run() needs and that are not here. */
  missing(ticket: Uint8Array): string[];
  /** Throws an Error when the bytes have another hash. */
  addBlob(hash: string, bytes: Uint8Array): void;
  /** The result's bytes. */
  run(ticket: Uint8Array): Uint8Array;
  /** The same, after it has fetched what is missing. */
  compute(ticket: Uint8Array, fetchBlob: (hash: string) => Promise<Uint8Array>): Promise<Uint8Array>;
}

export interface Parameter {
  /** "conv1.weight" */
  name: string;
  /** Shares the network's storage: writing it changes the network. */
  value: Tensor;
}

export class Network implements Disposable {
  private constructor();
  /** The network in Kaiseki's format, without weights. */
  readonly json: object;
  /** The layers in order, with the shapes of what they give, and the shapes of a sample and of its output. */
  readonly summary: { layers: LayerSummary[]; inputShape: Shape; outputShape: Shape };
  /** Whether its weights came in what it was made of, or by initialize() or loadWeights(); every network begins as initialize(0) makes it. */
  readonly hasWeights: boolean;
  /** A new tensor for each at every reading. */
  readonly parameters: Parameter[];
  readonly disposed: boolean;
  dispose(): void;

  /** Draws all parameters anew. */
  initialize(seed?: number): void;
  /** The output for a batch [n, ...]; probabilities where the network ends in a classification loss. */
  predict(x: Tensor): Tensor;
  /**
   * One step on a batch. Targets are i32 labels [n], or f32 of the output's shape. Gives the mean loss before the step,
   * and how many labels the output named. A step that fails may leave half of itself in the optimizer: make another.
   */
  trainStep(optimizer: Optimizer, x: Tensor, targets: Tensor, learningRate?: number): { loss: number; correct: number };
  evaluate(data: Data, options?: { batchSize?: number }): Evaluation;
  /** What layers give for a batch, by their names. */
  activations(x: Tensor, layers: readonly string[]): Tensor[];
  /** The bytes of a file that the native library and command read too. */
  saveWeights(format?: WeightsFormat): Uint8Array;
  /** Any of the three, by content. Gives a report; throws when `strict` and something is missing or unknown. */
  loadWeights(bytes: Uint8Array, options?: { strict?: boolean }): string;
}

/** Images f32 [n, ...], or u8, which count as f32 in 0..1; labels i32 [n], or f32 of the output's shape. */
export interface Data {
  images: Tensor;
  labels: Tensor;
}

export interface Kaiseki {
  /** Threads that operations use. Results do not depend on it. */
  readonly threads: number;

  tensor(values: Values, shape?: Shape, dtype?: DType): Tensor;
  /** Uninitialised. */
  empty(shape: Shape, dtype?: DType): Tensor;
  /** In [low, high). */
  uniform(shape: Shape, options?: UniformOptions): Tensor;
  normal(shape: Shape, options?: NormalOptions): Tensor;

  /** elementwise('a*x + y', {a: 2, x, y}), in one pass over memory. */
  elementwise(expression: string, bindings: Record<string, Tensor | number>): Tensor;
  concatenate(parts: readonly Tensor[], axis?: number): Tensor;
  /** x [n, c, h, w], filter [k, c/groups, r, s], bias [k]. */
  conv2d(x: Tensor, filter: Tensor, options?: {
    bias?: Tensor; stride?: Pair; padding?: Pair; dilation?: Pair; groups?: number;
  }): Tensor;
  maxPool2d(x: Tensor, options?: PoolOptions): Tensor;
  averagePool2d(x: Tensor, options?: PoolOptions): Tensor;

  /** From JSON, as text or parsed: Kaiseki's format or Sukiyaki's, weights inside it included; or the bytes of an ONNX file. */
  network(source: string | object | Uint8Array): Network;
  /** sgd, momentum, nesterov, adagrad, rmsprop, adam or adamw. */
  optimizer(name?: string, options?: OptimizerOptions): Optimizer;
  /** `cacheBytes`: of blobs that are kept for the tickets to come; 512 MiB unless given. */
  trainingNode(options?: { cacheBytes?: number }): TrainingNode;
  /** Samples by index; u8 images become f32 in 0..1. */
  batch(data: Data, rows: ArrayLike<number>): Data;
  /** Built-in digits like handwriting: images f32 [count, 1, 28, 28], labels i32 [count], the classes in turn. */
  digits(options?: DigitsOptions): Data;
  /** The bytes of MNIST's files, unpacked: images u8 [n, 1, height, width], labels i32 [n]. */
  mnist(images: Uint8Array, labels: Uint8Array): Data;
  /** The bytes of CIFAR-10's binary batches: images u8 [n, 3, 32, 32], labels i32 [n]. */
  cifar10(bytes: Uint8Array): Data;
  /** A JPEG or PNG, scaled to cover width x height and cut: f32 [1, channels, height, width] in 0..1. */
  picture(bytes: Uint8Array, options: PictureOptions): Tensor;

  /** Disposes what `body` made, except what it returns, or the values of the object or array that it returns. */
  tidy<T>(body: () => T): T;
  memory(): Memory;
  /** Gives freed bytes back for tensors of other sizes. */
  trim(): void;
  /** Ends the threads; nothing works afterwards. */
  close(): void;
}

/**
 * Loads the library. Threads need a page that is `crossOriginIsolated`, or Node; elsewhere, and with `threads: 1`, the
 * variant without threads is loaded. The default is the machine's number of cores.
 * `lent` is the port of lendThreads() in the page of this worker.
 */
export function load(options?: { threads?: number; lent?: MessagePort }): Promise<Kaiseki>;
