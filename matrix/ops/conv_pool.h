// SPDX-License-Identifier: MIT
// Convolution and max pooling of its output in one pass. f32.
#pragma once

#include "matrix/ops/conv.h"
#include "matrix/ops/pool.h"

namespace kaiseki {

/// Computes conv2d() and then max_pool2d(), with the same bits. If a solver of the device supports
/// it, the convolution's whole output is never in memory. Overwrites y and indices, or creates them
/// if they are empty tensors. `indices` may be nullptr if no backward pass follows. The activation
/// is none or relu.
void conv2d_max_pool(const Tensor& x, const Tensor& filter, const Tensor* bias, const Conv2d& conv,
                     const Pool2d& pool, Tensor& y, Tensor* indices,
                     Activation activation = Activation::none);

/// Computes the gradients from dy and indices of the pooling. dfilter = gradient + beta * dfilter.
/// If dx is nullptr, dx is not computed. Overwrites dx, or creates it if it is an empty tensor. The
/// result is that of max_pool2d_backward(), conv2d_backward_filter() and conv2d_backward_data(). If
/// these run separately, dy and indices are released in between.
void conv2d_max_pool_backward(const Tensor& x, const Tensor& filter, Tensor dy, Tensor indices,
                              const Conv2d& conv, const Pool2d& pool, Tensor& dfilter, float beta,
                              Tensor* dx);

}  // namespace kaiseki
