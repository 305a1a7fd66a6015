// SPDX-License-Identifier: MIT
// Written by wasm/operation_types.js from the table in wasm/bindings/arrays/create.cc.
import type { DType, Integers, Random } from './arrays_values.js';

export interface CreateMethods<Tensor> {
  /** Zeros of the shape and type of x. */
  zeros_like(): Tensor;
  /** Ones of the shape and type of x. */
  ones_like(): Tensor;
  /** One value in the shape and type of x. */
  full_like(value: number): Tensor;
  /** From a vector, the matrix with this diagonal. From a matrix, its diagonal. Default: diagonal = 0. */
  diag(diagonal?: number): Tensor;
  diag(named: { diagonal?: number }): Tensor;
  /** x with 0 below the diagonal of the last two axes. Default: diagonal = 0. */
  triu(diagonal?: number): Tensor;
  triu(named: { diagonal?: number }): Tensor;
  /** x with 0 above the diagonal of the last two axes. Default: diagonal = 0. */
  tril(diagonal?: number): Tensor;
  tril(named: { diagonal?: number }): Tensor;
  /** 1 at the index (i32) of each row of length classes, else 0. Default: dtype = "f32". */
  one_hot(classes: number, dtype?: DType): Tensor;
  one_hot(classes: number, named: { dtype?: DType }): Tensor;
  /** Sets all elements of a contiguous tensor. */
  fill(value: number): this;
  /** Copies the elements to a tensor or view of the same shape and type. */
  copy(to: Tensor): void;
  /** Sets all elements, from [low, high). Default: low = 0, high = 1. */
  random_uniform(random: Random, low?: number, high?: number): this;
  random_uniform(random: Random, named: { low?: number; high?: number }): this;
  /** Sets all elements, from a normal distribution. Default: mean = 0, deviation = 1. */
  random_normal(random: Random, mean?: number, deviation?: number): this;
  random_normal(random: Random, named: { mean?: number; deviation?: number }): this;
  /** Sets each element to value with this probability, else to 0. Default: value = 1. */
  random_bernoulli(random: Random, probability: number, value?: number): this;
  random_bernoulli(random: Random, probability: number, named: { value?: number }): this;
  /** A copy of x in random order along the axis. Default: axis = 0. */
  shuffle(random: Random, axis?: number): Tensor;
  shuffle(random: Random, named: { axis?: number }): Tensor;
}

export interface CreateFunctions<Tensor> {
  /** A tensor with any values. Default: dtype = "f32". */
  empty(shape: Integers, dtype?: DType): Tensor;
  empty(shape: Integers, named: { dtype?: DType }): Tensor;
  /** A tensor of zeros. Default: dtype = "f32". */
  zeros(shape: Integers, dtype?: DType): Tensor;
  zeros(shape: Integers, named: { dtype?: DType }): Tensor;
  /** A tensor of ones. Default: dtype = "f32". */
  ones(shape: Integers, dtype?: DType): Tensor;
  ones(shape: Integers, named: { dtype?: DType }): Tensor;
  /** A tensor f32 of one value. */
  full(shape: Integers, value: number): Tensor;
  /**
   * start, start + step, ... before stop. Without a stop: 0, step, ... before start. Default: stop = null, step = 1,
   * dtype = "f32".
   */
  arange(start: number, stop?: number | null, step?: number, dtype?: DType): Tensor;
  arange(start: number, named: { stop?: number | null; step?: number; dtype?: DType }): Tensor;
  /** count values (f32) at equal distances, with stop as the last one if endpoint is set. Default: endpoint = true. */
  linspace(start: number, stop: number, count: number, endpoint?: boolean): Tensor;
  linspace(start: number, stop: number, count: number, named: { endpoint?: boolean }): Tensor;
  /**
   * 1 where column - row = diagonal, else 0. Without columns the matrix is square. Default: columns = null, diagonal =
   * 0, dtype = "f32".
   */
  eye(rows: number, columns?: number | null, diagonal?: number, dtype?: DType): Tensor;
  eye(rows: number, named: { columns?: number | null; diagonal?: number; dtype?: DType }): Tensor;
  /** 1 where column - row <= diagonal, else 0. f32. Default: diagonal = 0. */
  tri(rows: number, columns: number, diagonal?: number): Tensor;
  tri(rows: number, columns: number, named: { diagonal?: number }): Tensor;
  /** The coordinates of a grid, one tensor for each axis. Default: order = "xy". */
  meshgrid(axes: readonly Tensor[], order?: 'xy' | 'ij'): Tensor[];
  meshgrid(axes: readonly Tensor[], named: { order?: 'xy' | 'ij' }): Tensor[];
  /** Joins tensors along an axis. */
  concatenate(parts: readonly Tensor[], axis: number): Tensor;
  /** A generator of random numbers, the same ones on every machine. Default: stream = 0. */
  random(seed: number, stream?: number): Random;
  random(seed: number, named: { stream?: number }): Random;
  /** Integers (i32) from low to high - 1. */
  randi(low: number, high: number, shape: Integers, random: Random): Tensor;
  /** 0 to n - 1 (i32) in random order. */
  permutation(n: number, random: Random): Tensor;
  /** count of the numbers 0 to n - 1 (i32). n may be the weights of the numbers. Default: replace = true. */
  choice(n: number | Tensor, count: number, random: Random, replace?: boolean): Tensor;
  choice(n: number | Tensor, count: number, random: Random, named: { replace?: boolean }): Tensor;
}
