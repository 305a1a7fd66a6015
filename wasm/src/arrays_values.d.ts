// SPDX-License-Identifier: MIT
// The types that the operations of kaiseki/arrays share.
import type { Disposable } from './common.js';

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
