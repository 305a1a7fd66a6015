// SPDX-License-Identifier: MIT
// The types of the package kaiseki. Shapes are row-major; every method that makes a tensor gives a new one.

export type DType = 'f32' | 'i32' | 'u8' | 'bool';
export type Shape = readonly number[];
export type Values = Float32Array | Int32Array | Uint8Array | readonly number[];

/** An error of the library, with the message of the native one: "[operation] expected ..., got ...". */
export class KaisekiError extends Error {
  readonly kind: 'Error' | 'ShapeError' | 'ParseError' | 'OutOfMemory';
}

/** Memory of the module. Freed by dispose(), by the tidy() around it, or by the garbage collector. */
interface Disposable {
  readonly disposed: boolean;
  /** Frees it; again does nothing. */
  dispose(): void;
}

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
  toTypedArray(): Float32Array | Int32Array | Uint8Array;
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
  matmul(other: Tensor, options?: { transposeA?: boolean; transposeB?: boolean }): Tensor;
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

export interface OptimizerOptions {
  /** Of trainStep() where it is given none. */
  learningRate?: number;
  momentum?: number;
  alpha?: number;
  beta1?: number;
  beta2?: number;
  epsilon?: number;
  weightDecay?: number;
  /** Above 0: all gradients together are scaled down to this norm. */
  clipNorm?: number;
}

export class Optimizer implements Disposable {
  private constructor();
  learningRate: number;
  readonly disposed: boolean;
  dispose(): void;
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
   * and how many labels the output named.
   */
  trainStep(optimizer: Optimizer, x: Tensor, targets: Tensor, learningRate?: number): { loss: number; correct: number };
  /** Mean loss and accuracy (0 to 1). */
  evaluate(x: Tensor, targets: Tensor, options?: { batchSize?: number }): { loss: number; accuracy: number };
  /** The bytes of a file that the native library and command read too. */
  saveWeights(format?: 'safetensors' | 'json' | 'tar'): Uint8Array;
  /** Any of the three, by content. Gives a report; throws when `strict` and something is missing or unknown. */
  loadWeights(bytes: Uint8Array, options?: { strict?: boolean }): string;
}

type Pair = number | readonly [number, number];

export interface Kaiseki {
  /** Threads that operations use. Results do not depend on it. */
  readonly threads: number;

  tensor(values: Values, shape?: Shape, dtype?: DType): Tensor;
  /** Uninitialised. */
  empty(shape: Shape, dtype?: DType): Tensor;
  /** In [low, high). */
  uniform(shape: Shape, options?: { seed?: number; low?: number; high?: number }): Tensor;
  normal(shape: Shape, options?: { seed?: number; mean?: number; deviation?: number }): Tensor;

  /** elementwise('a*x + y', {a: 2, x, y}), in one pass over memory. */
  elementwise(expression: string, bindings: Record<string, Tensor | number>): Tensor;
  concatenate(parts: readonly Tensor[], axis?: number): Tensor;
  /** x [n, c, h, w], filter [k, c/groups, r, s], bias [k]. */
  conv2d(x: Tensor, filter: Tensor, options?: {
    bias?: Tensor; stride?: Pair; padding?: Pair; dilation?: Pair; groups?: number;
  }): Tensor;
  maxPool2d(x: Tensor, options?: { window?: Pair; stride?: Pair; padding?: Pair }): Tensor;
  averagePool2d(x: Tensor, options?: { window?: Pair; stride?: Pair; padding?: Pair }): Tensor;

  /** From JSON, as text or parsed: Kaiseki's format or Sukiyaki's, weights inside it included; or the bytes of an ONNX file. */
  network(source: string | object | Uint8Array): Network;
  /** sgd, momentum, nesterov, adagrad, rmsprop, adam or adamw. */
  optimizer(name?: string, options?: OptimizerOptions): Optimizer;
  /** Built-in digits like handwriting: images f32 [count, 1, 28, 28], labels i32 [count], the classes in turn. */
  digits(options?: { count?: number; seed?: number; train?: boolean }): { images: Tensor; labels: Tensor };

  /** Disposes what `body` made, except the tensor that it returns, or the values of the object that it returns. */
  tidy<T>(body: () => T): T;
  /** Objects not yet disposed; bytes in tensors, bytes freed and kept for new ones, and the peak of both. */
  memory(): { handles: number; inUse: number; cached: number; peak: number };
  /** Gives freed bytes back for tensors of other sizes. */
  trim(): void;
  /** Ends the threads; nothing works afterwards. */
  close(): void;
}

/**
 * Loads the library. Threads need a page that is `crossOriginIsolated`, or Node; elsewhere, and with `threads: 1`, the
 * variant without threads is loaded. The default is the machine's number of cores.
 */
export function load(options?: { threads?: number }): Promise<Kaiseki>;
