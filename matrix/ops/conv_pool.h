// SPDX-License-Identifier: MIT
// Convolution and the maximum pooling of its output in one pass. f32.
#pragma once

#include "matrix/ops/conv.h"
#include "matrix/ops/pool.h"

namespace kaiseki {

/// What conv2d() and then max_pool2d() give, bit for bit, and where a solver of the device can
/// without memory for the convolution's whole output. y and indices are overwritten, or made when
/// they are needed if they are no tensors; `indices` may be nullptr where no backward pass follows.
/// Of activations, none and relu.
void conv2d_max_pool(const Tensor& x, const Tensor& filter, const Tensor* bias, const Conv2d& conv,
                     const Pool2d& pool, Tensor& y, Tensor* indices,
                     Activation activation = Activation::none);

/// From dy and indices of the pooling: dfilter = gradient + beta * dfilter, and unless it is
/// nullptr dx, overwritten, or made if it is no tensor. As max_pool2d_backward() and then
/// conv2d_backward_filter() and conv2d_backward_data(). Where it comes to that, dy and indices are
/// let go in between.
void conv2d_max_pool_backward(const Tensor& x, const Tensor& filter, Tensor dy, Tensor indices,
                              const Conv2d& conv, const Pool2d& pool, Tensor& dfilter, float beta,
                              Tensor* dx);

}  // namespace kaiseki
