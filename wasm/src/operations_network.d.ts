// SPDX-License-Identifier: MIT
// Written by wasm/operation_types.js from the table in wasm/bindings/arrays/network.cc.
import type { Integers } from './arrays_values.js';

export interface NetworkMethods<Tensor> {
  /**
   * The convolution of x [n, c, h, w] with filter [k, c / groups, r, s]. Default: stride = [1, 1], padding = [0, 0],
   * dilation = [1, 1], groups = 1, bias = null, activation = "none", slope = 0.01.
   */
  conv2d(
    filter: Tensor,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    groups?: number,
    bias?: Tensor | null,
    activation?: 'none' | 'relu' | 'leaky_relu' | 'sigmoid' | 'tanh',
    slope?: number,
  ): Tensor;
  conv2d(
    filter: Tensor,
    named: {
      stride?: Integers;
      padding?: Integers;
      dilation?: Integers;
      groups?: number;
      bias?: Tensor | null;
      activation?: 'none' | 'relu' | 'leaky_relu' | 'sigmoid' | 'tanh';
      slope?: number;
    },
  ): Tensor;
  /**
   * The gradient of x, which has this shape. Default: stride = [1, 1], padding = [0, 0], dilation = [1, 1], groups = 1.
   */
  conv2d_backward_data(
    filter: Tensor,
    shape: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    groups?: number,
  ): Tensor;
  conv2d_backward_data(
    filter: Tensor,
    shape: Integers,
    named: { stride?: Integers; padding?: Integers; dilation?: Integers; groups?: number },
  ): Tensor;
  /**
   * The gradient of the filter, which has this shape. Default: stride = [1, 1], padding = [0, 0], dilation = [1, 1],
   * groups = 1.
   */
  conv2d_backward_filter(
    dy: Tensor,
    shape: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    groups?: number,
  ): Tensor;
  conv2d_backward_filter(
    dy: Tensor,
    shape: Integers,
    named: { stride?: Integers; padding?: Integers; dilation?: Integers; groups?: number },
  ): Tensor;
  /**
   * max_pool2d(conv2d(x)) without the convolution's whole output in memory. Default: bias = null, stride = [1, 1],
   * padding = [0, 0], dilation = [1, 1], groups = 1, window = [2, 2], pool_stride = [2, 2], pool_padding = [0, 0],
   * ceil_mode = false, activation = "none".
   */
  conv2d_max_pool(
    filter: Tensor,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    groups?: number,
    window?: Integers,
    pool_stride?: Integers,
    pool_padding?: Integers,
    ceil_mode?: boolean,
    activation?: 'none' | 'relu' | 'leaky_relu' | 'sigmoid' | 'tanh',
  ): { y: Tensor; indices: Tensor };
  conv2d_max_pool(
    filter: Tensor,
    named: {
      bias?: Tensor | null;
      stride?: Integers;
      padding?: Integers;
      dilation?: Integers;
      groups?: number;
      window?: Integers;
      pool_stride?: Integers;
      pool_padding?: Integers;
      ceil_mode?: boolean;
      activation?: 'none' | 'relu' | 'leaky_relu' | 'sigmoid' | 'tanh';
    },
  ): { y: Tensor; indices: Tensor };
  /**
   * The gradients of conv2d_max_pool() without an activation. Default: stride = [1, 1], padding = [0, 0], dilation =
   * [1, 1], groups = 1, window = [2, 2], pool_stride = [2, 2], pool_padding = [0, 0], ceil_mode = false.
   */
  conv2d_max_pool_backward(
    filter: Tensor,
    dy: Tensor,
    indices: Tensor,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    groups?: number,
    window?: Integers,
    pool_stride?: Integers,
    pool_padding?: Integers,
    ceil_mode?: boolean,
  ): { dfilter: Tensor; dx: Tensor };
  conv2d_max_pool_backward(
    filter: Tensor,
    dy: Tensor,
    indices: Tensor,
    named: {
      stride?: Integers;
      padding?: Integers;
      dilation?: Integers;
      groups?: number;
      window?: Integers;
      pool_stride?: Integers;
      pool_padding?: Integers;
      ceil_mode?: boolean;
    },
  ): { dfilter: Tensor; dx: Tensor };
  /**
   * The largest elements of windows, and their positions (i32) in their planes. Default: window = [2, 2], stride = [2,
   * 2], padding = [0, 0], ceil_mode = false.
   */
  max_pool2d(
    window?: Integers,
    stride?: Integers,
    padding?: Integers,
    ceil_mode?: boolean,
  ): { y: Tensor; indices: Tensor };
  max_pool2d(named: { window?: Integers; stride?: Integers; padding?: Integers; ceil_mode?: boolean }): {
    y: Tensor;
    indices: Tensor;
  };
  /**
   * The gradient of x, which has this shape. Default: window = [2, 2], stride = [2, 2], padding = [0, 0], ceil_mode =
   * false.
   */
  max_pool2d_backward(
    indices: Tensor,
    shape: Integers,
    window?: Integers,
    stride?: Integers,
    padding?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  max_pool2d_backward(
    indices: Tensor,
    shape: Integers,
    named: { window?: Integers; stride?: Integers; padding?: Integers; ceil_mode?: boolean },
  ): Tensor;
  /**
   * The means of windows. count_padding divides by the whole window. Default: window = [2, 2], stride = [2, 2], padding
   * = [0, 0], ceil_mode = false, count_padding = false.
   */
  average_pool2d(
    window?: Integers,
    stride?: Integers,
    padding?: Integers,
    ceil_mode?: boolean,
    count_padding?: boolean,
  ): Tensor;
  average_pool2d(named: {
    window?: Integers;
    stride?: Integers;
    padding?: Integers;
    ceil_mode?: boolean;
    count_padding?: boolean;
  }): Tensor;
  /**
   * The gradient of x, which has this shape. Default: window = [2, 2], stride = [2, 2], padding = [0, 0], ceil_mode =
   * false, count_padding = false.
   */
  average_pool2d_backward(
    shape: Integers,
    window?: Integers,
    stride?: Integers,
    padding?: Integers,
    ceil_mode?: boolean,
    count_padding?: boolean,
  ): Tensor;
  average_pool2d_backward(
    shape: Integers,
    named: { window?: Integers; stride?: Integers; padding?: Integers; ceil_mode?: boolean; count_padding?: boolean },
  ): Tensor;
  /**
   * Normalizes each channel by the batch, and updates the running statistics. Default: eps = 0.00001, momentum = 0.1,
   * relu = false.
   */
  batch_norm_train(
    gamma: Tensor,
    beta: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    eps?: number,
    momentum?: number,
    relu?: boolean,
  ): { y: Tensor; mean: Tensor; inv_std: Tensor };
  batch_norm_train(
    gamma: Tensor,
    beta: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    named: { eps?: number; momentum?: number; relu?: boolean },
  ): { y: Tensor; mean: Tensor; inv_std: Tensor };
  /** Normalizes each channel by the running statistics. Default: eps = 0.00001, relu = false. */
  batch_norm_infer(
    gamma: Tensor,
    beta: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    eps?: number,
    relu?: boolean,
  ): Tensor;
  batch_norm_infer(
    gamma: Tensor,
    beta: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    named: { eps?: number; relu?: boolean },
  ): Tensor;
  /** The y of batch_norm_train() again, from its statistics. Default: relu = false. */
  batch_norm_apply(gamma: Tensor, beta: Tensor, mean: Tensor, inv_std: Tensor, relu?: boolean): Tensor;
  batch_norm_apply(gamma: Tensor, beta: Tensor, mean: Tensor, inv_std: Tensor, named: { relu?: boolean }): Tensor;
  /** The gradients of batch_norm_train(). */
  batch_norm_backward(
    dy: Tensor,
    gamma: Tensor,
    mean: Tensor,
    inv_std: Tensor,
  ): { dx: Tensor; dgamma: Tensor; dbeta: Tensor };
  /** Local response normalization across channels. Default: size = 5, alpha = 0.0001, beta = 0.75, k = 1. */
  lrn(size?: number, alpha?: number, beta?: number, k?: number): Tensor;
  lrn(named: { size?: number; alpha?: number; beta?: number; k?: number }): Tensor;
  /** The gradient of lrn(). Default: size = 5, alpha = 0.0001, beta = 0.75, k = 1. */
  lrn_backward(y: Tensor, dy: Tensor, size?: number, alpha?: number, beta?: number, k?: number): Tensor;
  lrn_backward(y: Tensor, dy: Tensor, named: { size?: number; alpha?: number; beta?: number; k?: number }): Tensor;
  /** (x / 255 - mean) / std of bytes, for each channel. Default: mean = [], std = []. */
  normalize(mean?: readonly number[], std?: readonly number[]): Tensor;
  normalize(named: { mean?: readonly number[]; std?: readonly number[] }): Tensor;
  /** exp(x) / sum(exp(x)) along the axis. Default: axis = -1. */
  softmax(axis?: number): Tensor;
  softmax(named: { axis?: number }): Tensor;
  /** log(softmax(x)). Default: axis = -1. */
  log_softmax(axis?: number): Tensor;
  log_softmax(named: { axis?: number }): Tensor;
  /** The gradient of x, from y = softmax(x). Default: axis = -1. */
  softmax_backward(dy: Tensor, axis?: number): Tensor;
  softmax_backward(dy: Tensor, named: { axis?: number }): Tensor;
  /** The gradient of x, from y = log_softmax(x). Default: axis = -1. */
  log_softmax_backward(dy: Tensor, axis?: number): Tensor;
  log_softmax_backward(dy: Tensor, named: { axis?: number }): Tensor;
  /** The loss of each row of logits [rows, classes] for labels (i32), and probabilities. */
  softmax_cross_entropy(labels: Tensor): { losses: Tensor; probabilities: Tensor };
  /** scale * (probabilities - one_hot(labels)). */
  softmax_cross_entropy_backward(labels: Tensor, scale: number): Tensor;
}
