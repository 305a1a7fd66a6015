// SPDX-License-Identifier: MIT
// Written by wasm/operation_types.js from the table in wasm/bindings/arrays/reduce.cc.
import type { Integers } from './arrays_values.js';

export interface ReduceMethods<Tensor> {
  /** The sum. Default: axes = [], keep_dims = false. */
  sum(axes?: Integers, keep_dims?: boolean): Tensor;
  sum(named: { axes?: Integers; keep_dims?: boolean }): Tensor;
  /** The product. Default: axes = [], keep_dims = false. */
  prod(axes?: Integers, keep_dims?: boolean): Tensor;
  prod(named: { axes?: Integers; keep_dims?: boolean }): Tensor;
  /** The mean. Default: axes = [], keep_dims = false. */
  mean(axes?: Integers, keep_dims?: boolean): Tensor;
  mean(named: { axes?: Integers; keep_dims?: boolean }): Tensor;
  /** The largest element, or NaN. Default: axes = [], keep_dims = false. */
  max(axes?: Integers, keep_dims?: boolean): Tensor;
  max(named: { axes?: Integers; keep_dims?: boolean }): Tensor;
  /** The smallest element, or NaN. Default: axes = [], keep_dims = false. */
  min(axes?: Integers, keep_dims?: boolean): Tensor;
  min(named: { axes?: Integers; keep_dims?: boolean }): Tensor;
  /** Whether an element is not 0, bool. Default: axes = [], keep_dims = false. */
  any(axes?: Integers, keep_dims?: boolean): Tensor;
  any(named: { axes?: Integers; keep_dims?: boolean }): Tensor;
  /** Whether no element is 0, bool. Default: axes = [], keep_dims = false. */
  all(axes?: Integers, keep_dims?: boolean): Tensor;
  all(named: { axes?: Integers; keep_dims?: boolean }): Tensor;
  /** The first index (i32) of the largest element. Default: axis = null. */
  argmax(axis?: number | null): Tensor;
  argmax(named: { axis?: number | null }): Tensor;
  /** The first index (i32) of the smallest element. Default: axis = null. */
  argmin(axis?: number | null): Tensor;
  argmin(named: { axis?: number | null }): Tensor;
  /** The variance, with n - ddof as divisor. Default: axes = [], ddof = 0, keep_dims = false. */
  var(axes?: Integers, ddof?: number, keep_dims?: boolean): Tensor;
  var(named: { axes?: Integers; ddof?: number; keep_dims?: boolean }): Tensor;
  /** The root of the variance. Default: axes = [], ddof = 0, keep_dims = false. */
  stddev(axes?: Integers, ddof?: number, keep_dims?: boolean): Tensor;
  stddev(named: { axes?: Integers; ddof?: number; keep_dims?: boolean }): Tensor;
  /** sum(|x|^p)^(1/p). p may be infinite. Default: p = 2, axes = [], keep_dims = false. */
  vector_norm(p?: number, axes?: Integers, keep_dims?: boolean): Tensor;
  vector_norm(named: { p?: number; axes?: Integers; keep_dims?: boolean }): Tensor;
  /** log(sum(exp(x))), without overflow. Default: axes = [], keep_dims = false. */
  logsumexp(axes?: Integers, keep_dims?: boolean): Tensor;
  logsumexp(named: { axes?: Integers; keep_dims?: boolean }): Tensor;
  /** The value below which a part q of the elements lies, interpolated. Default: axes = [], keep_dims = false. */
  quantile(q: number, axes?: Integers, keep_dims?: boolean): Tensor;
  quantile(q: number, named: { axes?: Integers; keep_dims?: boolean }): Tensor;
  /** quantile(x, 0.5). Default: axes = [], keep_dims = false. */
  median(axes?: Integers, keep_dims?: boolean): Tensor;
  median(named: { axes?: Integers; keep_dims?: boolean }): Tensor;
  /** Counts in this number of bins from low to high, or between ascending edges. Default: low = 0, high = 1. */
  histogram(bins: number | Tensor, low?: number, high?: number): { counts: Tensor; edges: Tensor };
  histogram(bins: number | Tensor, named: { low?: number; high?: number }): { counts: Tensor; edges: Tensor };
  /** The number of each value from 0 to the largest one of x (i32). Default: least = 0. */
  bincount(least?: number): Tensor;
  bincount(named: { least?: number }): Tensor;
  /** The sum of the elements so far. */
  cumsum(axis: number): Tensor;
  /** The product of the elements so far. */
  cumprod(axis: number): Tensor;
  /** The largest element so far. */
  cummax(axis: number): Tensor;
  /** The smallest element so far. */
  cummin(axis: number): Tensor;
  /** Sorts along the axis. NaN is last. Default: axis = -1, descending = false. */
  sort(axis?: number, descending?: boolean): Tensor;
  sort(named: { axis?: number; descending?: boolean }): Tensor;
  /** The indices (i32) that sort x. Default: axis = -1, descending = false. */
  argsort(axis?: number, descending?: boolean): Tensor;
  argsort(named: { axis?: number; descending?: boolean }): Tensor;
  /** The k largest or smallest elements, in order, and their indices (i32). Default: axis = -1, largest = true. */
  topk(k: number, axis?: number, largest?: boolean): { values: Tensor; indices: Tensor };
  topk(k: number, named: { axis?: number; largest?: boolean }): { values: Tensor; indices: Tensor };
  /** The index (i32) at which each value keeps the order, before equal ones or after. Default: right = false. */
  searchsorted(values: Tensor, right?: boolean): Tensor;
  searchsorted(values: Tensor, named: { right?: boolean }): Tensor;
  /** The different elements, their first positions, inverse = their index for each element of x, and counts. */
  unique(): { values: Tensor; first: Tensor; inverse: Tensor; counts: Tensor };
}

export interface ReduceFunctions<Tensor> {
  /** The reduction with this name. Default: axes = [], keep_dims = false. */
  reduce(
    kind: 'sum' | 'mean' | 'max' | 'min' | 'sum_of_squares' | 'prod' | 'any' | 'all',
    x: Tensor,
    axes?: Integers,
    keep_dims?: boolean,
  ): Tensor;
  reduce(
    kind: 'sum' | 'mean' | 'max' | 'min' | 'sum_of_squares' | 'prod' | 'any' | 'all',
    x: Tensor,
    named: { axes?: Integers; keep_dims?: boolean },
  ): Tensor;
  /** out = reduction + beta * out. Default: beta = 0. */
  reduce_into(
    kind: 'sum' | 'mean' | 'max' | 'min' | 'sum_of_squares' | 'prod' | 'any' | 'all',
    x: Tensor,
    axes: Integers,
    out: Tensor,
    beta?: number,
  ): void;
  reduce_into(
    kind: 'sum' | 'mean' | 'max' | 'min' | 'sum_of_squares' | 'prod' | 'any' | 'all',
    x: Tensor,
    axes: Integers,
    out: Tensor,
    named: { beta?: number },
  ): void;
}
