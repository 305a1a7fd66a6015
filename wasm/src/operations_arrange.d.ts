// SPDX-License-Identifier: MIT
// Written by wasm/operation_types.js from the table in wasm/bindings/arrays/arrange.cc.
import type { Integers } from './arrays_values.js';

export interface ArrangeMethods<Tensor> {
  /** A view, as in NumPy: slice("0:10:2, :, -1"). It may have ... and None. */
  slice(indices: string): Tensor;
  /** Another shape. One dimension may be -1. */
  reshape(shape: Integers): Tensor;
  /** A view that repeats axes of length 1. */
  broadcast_to(shape: Integers): Tensor;
  /** A view with the axes in this order. */
  permute(axes: Integers): Tensor;
  /** A view with the last two axes exchanged. */
  transpose(): Tensor;
  /** A copy in storage of its own. */
  clone(): Tensor;
  /** x if its elements are contiguous, else a copy. */
  contiguous(): Tensor;
  /** Whether the elements are in memory row by row, without gaps. */
  is_contiguous(): boolean;
  /** A view without these axes of length 1, or without all. Default: axes = []. */
  squeeze(axes?: Integers): Tensor;
  squeeze(named: { axes?: Integers }): Tensor;
  /** A view with a new axis of length 1. */
  expand_dims(axis: number): Tensor;
  /** A view in reverse order along these axes, or along all. Default: axes = []. */
  flip(axes?: Integers): Tensor;
  flip(named: { axes?: Integers }): Tensor;
  /** A view with one axis at another position. */
  moveaxis(from: number, to: number): Tensor;
  /** Views of this number of equal parts, or of the parts that begin at these positions. */
  split(parts: number | Integers, axis: number): Tensor[];
  /** Moves elements along the axis, from its end to its start. */
  roll(shift: number, axis: number): Tensor;
  /** Repeats x as a whole, repeats[i] times along axis i. */
  tile(repeats: Integers): Tensor;
  /** Repeats each element along the axis, all equally or by a tensor i32. */
  repeat(repeats: number | Tensor, axis: number): Tensor;
  /** The elements at these positions (i32). Their shape takes the place of the axis. */
  take(indices: Tensor, axis: number): Tensor;
  /** Sets the elements of take(). */
  put(indices: Tensor, values: Tensor, axis: number): this;
  /** Adds to the elements of take(). */
  add_at(indices: Tensor, values: Tensor, axis: number): this;
  /** x[indices[i, j], j] for axis 0: take_along_axis of NumPy. */
  gather(indices: Tensor, axis: number): Tensor;
  /** Sets the elements of gather(). */
  scatter(indices: Tensor, values: Tensor, axis: number): this;
  /** Adds to the elements of gather(). */
  scatter_add(indices: Tensor, values: Tensor, axis: number): this;
  /** The positions (i32) of the elements that are not 0: [count, rank]. */
  nonzero(): Tensor;
  /** The elements where the mask (bool) is true. */
  masked_select(mask: Tensor): Tensor;
  /** Sets the elements of masked_select(). */
  masked_put(mask: Tensor, values: Tensor): this;
}

export interface ArrangeFunctions<Tensor> {
  /** Joins tensors of one shape along a new axis. */
  stack(parts: readonly Tensor[], axis: number): Tensor;
}
