// SPDX-License-Identifier: MIT
// Convolution and max pooling of its output in one pass. f32.
#pragma once

#include "matrix/ops/conv.h"
#include "matrix/ops/pooling.h"

namespace kaiseki {

struct ConvMaxPooling {
  const Tensor &x, &filter;
  const Tensor* bias = nullptr;
  Conv2d conv = {};
  Pooling2d pooling = {};
  Tensor& y;
  Tensor* indices = nullptr;  // for the backward pass
  Activation activation = Activation::none;
};

/// The gradients of ConvMaxPooling, from dy and indices of the pooling.
struct ConvMaxPoolingBackward {
  const Tensor &x, &filter;
  Tensor dy, indices;
  Conv2d conv = {};
  Pooling2d pooling = {};
  Tensor& dfilter;
  float beta = 0;  // dfilter = gradient + beta * dfilter
  Tensor* dx = nullptr;
};

/// Computes conv2d_into() and then max_pool2d_into(), with the same bits. If a solver of the device
/// supports it, the convolution's whole output is never in memory. Overwrites y and indices, or
/// creates them if they are empty tensors. The activation is none or relu.
void conv2d_max_pool(const ConvMaxPooling& pass);

/// If dx is nullptr, dx is not computed. Overwrites dx, or creates it if it is an empty tensor. The
/// result is that of max_pool2d_backward_into(), conv2d_backward_filter_into() and
/// conv2d_backward_data_into(). If these run separately, dy and indices are released in between.
void conv2d_max_pool_backward(ConvMaxPoolingBackward pass);

}  // namespace kaiseki
