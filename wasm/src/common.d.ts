// SPDX-License-Identifier: MIT
// Types that the package's two entries share: 'kaiseki', whose work runs in a worker, and 'kaiseki/sync'.

export type DType = 'f32' | 'i32' | 'u8' | 'bool';
/** Like all sizes, axes and indices: whole numbers of 32 bits; others are an error. */
export type Shape = readonly number[];
export type TypedArray = Float32Array | Int32Array | Uint8Array;
/** Plain numbers must be such as the tensor's type holds; a typed array of another type is converted as JavaScript does. */
export type Values = TypedArray | readonly number[];
export type Pair = number | readonly [number, number];
export type WeightsFormat = 'safetensors' | 'json' | 'tar';

/**
 * An error of the library, with the message of the native one: "[operation] expected ..., got ...". `Closed`: the worker
 * has ended, by close() or by itself, and nothing works until load() is called again.
 */
export class KaisekiError extends Error {
  readonly kind: 'Error' | 'ShapeError' | 'ParseError' | 'OutOfMemory' | 'Closed';
}

/** Memory of the module. Freed by dispose(), by the tidy() around it, or by the garbage collector. */
export interface Disposable {
  readonly disposed: boolean;
  /** Frees it; again does nothing. */
  dispose(): void;
}

export interface OptimizerOptions {
  /** Like all learning rates, 0 or more. Default: the native library's for this optimizer. */
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

export interface RandomOptions {
  /** Like all seeds: a whole number from 0 to 2^53. Default 0. */
  seed?: number;
}
export interface UniformOptions extends RandomOptions {
  low?: number;
  high?: number;
}
export interface NormalOptions extends RandomOptions {
  mean?: number;
  deviation?: number;
}

export interface MatmulOptions {
  transposeA?: boolean;
  transposeB?: boolean;
}
export interface PoolOptions {
  window?: Pair;
  stride?: Pair;
  padding?: Pair;
}

export interface DigitsOptions extends RandomOptions {
  count?: number;
  /** Digits to train on, or others to test with: a fifth as many. */
  train?: boolean;
}

export interface PictureOptions {
  width: number;
  height: number;
  /** Default 3. */
  channels?: 1 | 3;
}

/** A layer and what it gives for one sample. */
export interface LayerSummary {
  name: string;
  type: string;
  /** Of one sample, without the batch. */
  shape: Shape;
  /** Trained values. */
  parameters: number;
  /** Of one sample, forward. */
  multiplyAdds: number;
}

export interface Evaluation {
  loss: number;
  /** 0 to 1. */
  accuracy: number;
  /**
   * Row-major [classes, classes]: how many of a class (row) were taken for which (column); empty without labels, and with
   * more than 1,000 classes.
   */
  confusion: Int32Array;
}

export interface Memory {
  /** Objects not yet disposed. */
  handles: number;
  /** Bytes in tensors; bytes freed and kept for new ones; the peak of both. */
  inUse: number;
  cached: number;
  peak: number;
  /** Bytes of the module's whole memory, which grows and never shrinks. */
  heap: number;
}
