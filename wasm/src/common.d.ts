// SPDX-License-Identifier: MIT
// Types that the entries 'kaiseki' and 'kaiseki/sync' share.

export type DType = 'f32' | 'i32' | 'u8' | 'bool';
/** Sizes, axes and indices are 32-bit integers. Other values throw an error. */
export type Shape = readonly number[];
export type TypedArray = Float32Array | Int32Array | Uint8Array;
/** Plain numbers must fit the tensor's type. A typed array of another type is converted as JavaScript converts it. */
export type Values = TypedArray | readonly number[];
export type Pair = number | readonly [number, number];
export type WeightsFormat = 'safetensors' | 'json' | 'tar';

/**
 * An error of the library. Its message is the native library's: "[operation] expected ..., got ...".
 * The kind `Closed` means that close() or a failure ended the worker, or that a thread of the library failed. Then call
 * load() again.
 */
export class KaisekiError extends Error {
  readonly kind: 'Error' | 'ShapeError' | 'ParseError' | 'OutOfMemory' | 'Closed';
}

/** An object in the module's memory. dispose(), the enclosing tidy() or the garbage collector frees it. */
export interface Disposable {
  readonly disposed: boolean;
  /** Frees the object. A second call does nothing. */
  dispose(): void;
}

export interface OptimizerOptions {
  /** A number of 0 or more, as for all learning rates. Default: the native library's for this optimizer. */
  learningRate?: number;
  momentum?: number;
  alpha?: number;
  beta1?: number;
  beta2?: number;
  epsilon?: number;
  weightDecay?: number;
  /** If above 0, all gradients together are scaled down to this norm. */
  clipNorm?: number;
  /** adagrad: the start of the sum of squares. Default: 0. Sukiyaki starts with 0.01. */
  initialSquareSum?: number;
}

/** The recipe for training in a network's JSON (docs/network-json.md). */
export interface Recipe {
  epochs?: number;
  batch_size?: number;
  optimizer?: string;
  learning_rate?: number;
  momentum?: number;
  weight_decay?: number;
  clip_norm?: number;
  schedule?: string;
  warmup?: number;
  step_size?: number;
  gamma?: number;
  minimum_rate?: number;
  augment?: string;
  resize?: number;
  mean?: number[];
  std?: number[];
}

/**
 * (x / 255 - mean) / std of bytes. `mean` and `std` have one number, or one for each channel. Default 0 and 1.
 */
export interface Normalization {
  mean?: readonly number[];
  std?: readonly number[];
}

/** How the learning rate changes, as in `kaiseki train` (docs/training.md). Lengths are in epochs. */
export interface Schedule {
  /** constant, step, cosine or linear. Default constant. */
  name?: string;
  /** The length. cosine and linear reach `minimumRate` at its end. */
  epochs: number;
  /** The part that an earlier training has done, so that this one continues there. Default 0. */
  done?: number;
  /** The time in which the rate rises from 0. Default 0. */
  warmup?: number;
  /** step: the time between two reductions, and the factor of each. Default of `gamma`: 0.1. */
  stepSize?: number;
  gamma?: number;
  /** cosine and linear: the last rate. Default 0. */
  minimumRate?: number;
}

export interface RandomOptions {
  /** An integer from 0 to 2^53, as for all seeds. Default 0. */
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
  /** If false, makes a test set with other digits and a fifth as many. */
  train?: boolean;
}

export interface PictureOptions {
  width: number;
  height: number;
  /** Default 3. */
  channels?: 1 | 3;
  /** Whether to ignore the orientation that cameras store (Exif). Default false: pictures are turned upright. */
  asStored?: boolean;
}

/** A layer, with figures for one sample. */
export interface LayerSummary {
  name: string;
  type: string;
  /** The output's shape, without the batch. */
  shape: Shape;
  /** The number of trained values. */
  parameters: number;
  /** Of the forward pass. */
  multiplyAdds: number;
  /** Of the forward pass: multiply-adds, inputs, and 20 for each value that a window of pooling or LRN reads. */
  operations: number;
}

export interface Evaluation {
  loss: number;
  /** 0 to 1. */
  accuracy: number;
  /**
   * Row-major [classes, classes]. Row: the true class. Column: the predicted class. Empty without labels and with more
   * than 1,000 classes.
   */
  confusion: Int32Array;
}

export interface Memory {
  /** The number of objects that were not disposed. */
  handles: number;
  /** Bytes in tensors, bytes that are cached for new tensors, and the peak of their sum. */
  inUse: number;
  cached: number;
  peak: number;
  /** Bytes of the module's whole memory. It grows and never shrinks. */
  heap: number;
}
