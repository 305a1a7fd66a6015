// SPDX-License-Identifier: MIT
// The types of kaiseki/arrays: the array operations of the native library, with the same names (docs/arrays.md,
// docs/indexing.md, docs/linear-algebra.md). Calls run in the calling thread. wasm/types makes the operations_*.d.ts files.
import type { Disposable, Memory } from './common.js';
import type { ArrangeFunctions, ArrangeMethods } from './operations_arrange.js';
import type { CreateFunctions, CreateMethods } from './operations_create.js';
import type { ElementwiseFunctions, ElementwiseMethods } from './operations_elementwise.js';
import type { FileFunctions, FileMethods } from './operations_file.js';
import type { LinalgMethods } from './operations_linalg.js';
import type { NetworkMethods } from './operations_network.js';
import type { ProductFunctions, ProductMethods } from './operations_product.js';
import type { ReduceFunctions, ReduceMethods } from './operations_reduce.js';

export { KaisekiError } from './common.js';

/** f32 is the type of computation. f64 is for linear algebra, reductions, sorting and indexing. */
export type DType = 'f32' | 'i32' | 'u8' | 'bool' | 'f64';
/** Axes, dimensions, positions and repeats. */
export type Integers = readonly number[] | Int32Array;
export type Elements = Float32Array | Float64Array | Int32Array | Uint8Array;
export type Nested = number | boolean | readonly Nested[];

/** A generator of random numbers. Each use advances it. */
export class Random implements Disposable {
  private constructor();
  readonly disposed: boolean;
  dispose(): void;
}

export interface Tensor
  extends
    ArrangeMethods,
    CreateMethods,
    ElementwiseMethods,
    FileMethods,
    LinalgMethods,
    NetworkMethods,
    ProductMethods,
    ReduceMethods {}
export class Tensor implements Disposable {
  private constructor();
  readonly shape: readonly number[];
  readonly dtype: DType;
  /** Number of elements. */
  readonly size: number;
  readonly disposed: boolean;
  dispose(): void;

  /** Copies the elements, row-major. bool is 0 and 1. */
  toTypedArray(): Elements;
  /** The only element. Throws a ShapeError if the tensor has more elements or none. */
  item(): number;
  /** Overwrites all elements, also those of a view. Their shape may be flat. */
  set(values: Elements | Nested): this;
  /** The text that NumPy prints. */
  toString(): string;
}

/** An operation of the table. Required parameters come first. */
export interface Operation {
  readonly name: string;
  /** The source in wasm/bindings/arrays that has it. */
  readonly group: string;
  readonly about: string;
  /** Whether it is a method of its first parameter, and not a function of the library. */
  readonly method: boolean;
  readonly number: number;
  /** A parameter with a default has `fallback`. Types are those of TypeScript. */
  readonly parameters: readonly { name: string; type: string; fallback?: unknown }[];
  /** A type of TypeScript, or types by name. */
  readonly result: string | object;
}

export interface Arrays
  extends ArrangeFunctions, CreateFunctions, ElementwiseFunctions, FileFunctions, ProductFunctions, ReduceFunctions {
  readonly operations: readonly Operation[];
  /**
   * Makes a tensor of nested lists, a typed array or one number. Default shape: that of the values. Default type: that
   * of the typed array, else f32.
   */
  tensor(values: Elements | Nested, shape?: Integers, dtype?: DType): Tensor;
  /** Calls `body`, and frees the objects that it made, except those of its result: an object, a list or a record. */
  tidy<T>(body: () => T): T;
  memory(): Memory;
  /** Frees memory that is cached for new tensors. */
  trim(): void;
}

/** Loads the module. It has one thread. `onProgress` gets the bytes that were received. */
export function load(options?: { onProgress?: (progress: { loaded: number }) => void }): Promise<Arrays>;
