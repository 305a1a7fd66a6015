// SPDX-License-Identifier: MIT
// The types of kaiseki/arrays: the array operations of the native library, with the same names (docs/arrays.md,
// docs/indexing.md, docs/linear-algebra.md). Calls run in the calling thread. wasm/operation_types.js writes the files
// operations_*.d.ts.
import type { DType, Elements, Integers, Nested } from './arrays_values.js';
import type { Disposable, Memory } from './common.js';
import type { ArrangeFunctions, ArrangeMethods } from './operations_arrange.js';
import type { ClusterMethods } from './operations_cluster.js';
import type { CreateFunctions, CreateMethods } from './operations_create.js';
import type { ElementwiseFunctions, ElementwiseMethods } from './operations_elementwise.js';
import type { FileFunctions, FileMethods } from './operations_file.js';
import type { LinalgMethods } from './operations_linalg.js';
import type { NetworkMethods } from './operations_network.js';
import type { ProductFunctions, ProductMethods } from './operations_product.js';
import type { ReduceFunctions, ReduceMethods } from './operations_reduce.js';

export { KaisekiError } from './common.js';
export { Random } from './arrays_values.js';
export type { DType, Elements, Integers, Nested } from './arrays_values.js';

export interface Tensor
  extends
    ArrangeMethods<Tensor>,
    ClusterMethods<Tensor>,
    CreateMethods<Tensor>,
    ElementwiseMethods<Tensor>,
    FileMethods,
    LinalgMethods<Tensor>,
    NetworkMethods<Tensor>,
    ProductMethods<Tensor>,
    ReduceMethods<Tensor> {}
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
  extends
    ArrangeFunctions<Tensor>,
    CreateFunctions<Tensor>,
    ElementwiseFunctions<Tensor>,
    FileFunctions<Tensor>,
    ProductFunctions<Tensor>,
    ReduceFunctions<Tensor> {
  readonly operations: readonly Operation[];
  /**
   * Makes a tensor of nested lists, a typed array, one number or one boolean. Default shape: that of the values. Default
   * type: that of the typed array, bool if the first value is a boolean, else f32.
   */
  tensor(values: Elements | Nested, shape?: Integers, dtype?: DType): Tensor;
  /**
   * Calls `body`, and frees the objects that it made. It keeps those of its result, which is an object, a list or a
   * record.
   */
  tidy<T>(body: () => T): T;
  memory(): Memory;
  /** Frees memory that is cached for new tensors. */
  trim(): void;
}

/** Loads the module. It has one thread. `onProgress` gets the bytes that were received. */
export function load(options?: { onProgress?: (progress: { loaded: number }) => void }): Promise<Arrays>;
