// SPDX-License-Identifier: MIT
// Written by wasm/operation_types.js from the table in wasm/bindings/arrays/product.cc.
import type { Integers } from './arrays_values.js';

export interface ProductMethods<Tensor> {
  /**
   * The matrix product. Axes before the last two are a batch, and broadcast. Default: transpose_a = false, transpose_b
   * = false.
   */
  matmul(b: Tensor, transpose_a?: boolean, transpose_b?: boolean): Tensor;
  matmul(b: Tensor, named: { transpose_a?: boolean; transpose_b?: boolean }): Tensor;
  /**
   * c = activation(alpha * a b + beta * c + bias). Default: transpose_a = false, transpose_b = false, alpha = 1, beta =
   * 0, bias_per_row = null, bias_per_column = null, activation = "none", slope = 0.01.
   */
  gemm(
    b: Tensor,
    c: Tensor,
    transpose_a?: boolean,
    transpose_b?: boolean,
    alpha?: number,
    beta?: number,
    bias_per_row?: Tensor | null,
    bias_per_column?: Tensor | null,
    activation?: 'none' | 'relu' | 'leaky_relu' | 'sigmoid' | 'tanh',
    slope?: number,
  ): void;
  gemm(
    b: Tensor,
    c: Tensor,
    named: {
      transpose_a?: boolean;
      transpose_b?: boolean;
      alpha?: number;
      beta?: number;
      bias_per_row?: Tensor | null;
      bias_per_column?: Tensor | null;
      activation?: 'none' | 'relu' | 'leaky_relu' | 'sigmoid' | 'tanh';
      slope?: number;
    },
  ): void;
  /**
   * Sums products over the last axes of a and the first of b, or over lists of axes. Default: axes = 2, axes_b = null.
   */
  tensordot(b: Tensor, axes?: number | Integers, axes_b?: Integers | null): Tensor;
  tensordot(b: Tensor, named: { axes?: number | Integers; axes_b?: Integers | null }): Tensor;
  /** The convolution of signals or pictures. Default: mode = "full". */
  convolve(b: Tensor, mode?: 'full' | 'same' | 'valid'): Tensor;
  convolve(b: Tensor, named: { mode?: 'full' | 'same' | 'valid' }): Tensor;
  /** The correlation of signals or pictures. Default: mode = "full". */
  correlate(b: Tensor, mode?: 'full' | 'same' | 'valid'): Tensor;
  correlate(b: Tensor, named: { mode?: 'full' | 'same' | 'valid' }): Tensor;
}

export interface ProductFunctions<Tensor> {
  /** Einstein's summation: einsum("...ij,jk->...ik", [a, b]). */
  einsum(expression: string, tensors: readonly Tensor[]): Tensor;
}
