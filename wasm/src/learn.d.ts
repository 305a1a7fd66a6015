// SPDX-License-Identifier: MIT
// The types of kaiseki/learn: classic machine learning with the names and settings of scikit-learn
// (docs/classic-learning.md). Calls run in the calling thread. Matrices are row-major.
import type { Disposable, Memory } from './common.js';

export { KaisekiError } from './common.js';

export type Task = 'classification' | 'regression' | 'clustering' | 'transformation';
export type Use = 'predict' | 'predict_proba' | 'decision_function' | 'transform' | 'score_samples';
/** Samples and features. */
export type MatrixShape = readonly [rows: number, features: number];
export type Numbers = ArrayLike<number>;
/** Labels of a classification: any 32-bit integers. */
export type Labels = ArrayLike<number>;

/** One kind of model. */
export interface ModelKind {
  /** "KMeans" */
  name: string;
  /** One sentence. */
  about: string;
  task: Task;
}

/** A tensor of a fitted model. */
export interface ModelTensor {
  shape: number[];
  values: Float32Array | Float64Array | Int32Array | Uint8Array;
}

export class Model implements Disposable {
  private constructor();
  readonly name: string;
  readonly task: Task;
  /** All settings, also those with their defaults. */
  readonly settings: Record<string, unknown>;
  /** The results that apply() can compute. */
  readonly uses: readonly Use[];
  readonly hasScore: boolean;
  readonly hasPartialFit: boolean;
  /** The number of features that fit() has seen, or 0 before it. */
  readonly features: number;
  /** The names of the classes 0, 1, ..., if load() read a file that has them. */
  readonly classNames: readonly string[];
  readonly disposed: boolean;
  dispose(): void;

  /**
   * Fits the model to x. y has a label for each row, or a regression's targets, one or more for each row. Clusterings
   * and transformations need no y. Throws a KaisekiError as the native library does.
   */
  fit(x: Numbers, shape: MatrixShape, y?: Labels | Numbers): this;
  /**
   * Learns from more samples. A classifier's first call needs `classes`: all labels that may come. The scaler of a
   * loaded file scales x, and does not learn. Throws a KaisekiError if the model has no partial_fit().
   */
  partial_fit(x: Numbers, shape: MatrixShape, y?: Labels | Numbers, classes?: Labels): this;
  /**
   * Computes `use` for each row of x: Int32Array for labels, else Float32Array. The number of values for a row is the
   * length divided by the number of rows.
   */
  apply(use: Use, x: Numbers, shape: MatrixShape): Int32Array | Float32Array;
  /** The accuracy, R^2, the mean log likelihood, or the negative inertia. Throws a KaisekiError without a score. */
  score(x: Numbers, shape: MatrixShape, y?: Labels | Numbers): number;
  /** The bytes of a model's file, which `kaiseki apply` reads too. */
  save(): Uint8Array;
  /** A copy of what fit() has learned, by name: numbers and texts, and tensors. */
  state(): { values: Record<string, unknown>; tensors: Record<string, ModelTensor> };
}

export interface Digits {
  /** Bytes of the pictures, row by row. */
  images: Uint8Array;
  labels: Int32Array;
  shape: [count: number, height: number, width: number];
}

export interface Learn {
  /** All kinds of models, by task, then by name. */
  readonly models: readonly ModelKind[];
  /** Makes a model that is not fitted. Missing settings have their defaults. Unknown settings throw. */
  model(name: string, settings?: Record<string, unknown>): Model;
  /**
   * Reads the bytes of save() or of a file of `kaiseki fit`. If the file has a scaler, apply() and score() scale x. If
   * it was fitted to a table, x has the features of the encoded columns.
   */
  load(bytes: Uint8Array): Model;
  /** Built-in digits that look handwritten. Labels cycle through the classes. Default: 1,000, seed 0. */
  digits(options?: { count?: number; seed?: number; train?: boolean }): Digits;
  memory(): Memory;
}

/** Loads the module. It has one thread. `onProgress` gets the bytes that were received. */
export function load(options?: { onProgress?: (progress: { loaded: number }) => void }): Promise<Learn>;
