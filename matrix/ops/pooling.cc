// SPDX-License-Identifier: MIT
#include "matrix/ops/pooling.h"

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/pooling.h"
#include "matrix/ceil_div.h"
#include "matrix/ops/check.h"
#include "matrix/out_of_core/divide.h"

namespace kaiseki {
namespace {

/// The output length along one axis. A window that starts in the padding behind the input is
/// dropped. Such a window exists only if the size is rounded up.
int64_t output_length(int64_t in, const Pooling2d& pooling, int axis) {
  const int64_t free = in + 2 * pooling.padding[axis] - pooling.window[axis],
                stride = pooling.stride[axis];
  if (!pooling.ceil_mode) return free / stride + 1;
  const int64_t length = ceil_div(free, stride) + 1;
  return (length - 1) * stride >= in + pooling.padding[axis] ? length - 1 : length;
}

Shape checked_shape(std::string_view operation, const Shape& x, const Pooling2d& pooling) {
  require(x.rank() == 4, operation, "expected an input [n, c, h, w], got ", x);
  for (int i = 0; i < 2; ++i) {
    require(pooling.window[i] >= 1, operation, "expected a window of at least 1, got ",
            pooling.window[i]);
    require(pooling.stride[i] >= 1, operation, "expected a stride of at least 1, got ",
            pooling.stride[i]);
    require(pooling.padding[i] >= 0 && 2 * pooling.padding[i] <= pooling.window[i], operation,
            "expected a padding of at most half the window ", pooling.window[i], ", got ",
            pooling.padding[i]);
    require(x[2 + i] >= 1 && x[2 + i] + 2 * pooling.padding[i] >= pooling.window[i], operation,
            "expected an input with its padding of at least the window ", pooling.window[0], "x",
            pooling.window[1], ", got ", x);
  }
  return {x[0], x[1], output_length(x[2], pooling, 0), output_length(x[3], pooling, 1)};
}

void forward(std::string_view operation, const Tensor& x, const Pooling2d& pooling, Tensor& y,
             Tensor* indices) {
  check_tensor(x, "the input", operation, x.device());
  check_tensor(y, "the output", operation, x.device());
  const Shape shape = checked_shape(operation, x.shape(), pooling);
  check_output(y, "an output", shape, {&x}, operation);
  if (indices) {
    check_tensor(*indices, "the indices", operation, x.device(), DType::i32);
    check_output(*indices, "indices", shape, {&x, &y}, operation);
  }
  if (y.size() == 0) return;
  const Tensor input = x.contiguous();
  PoolingArgs args = pooling_args(x.shape(), shape, pooling, indices != nullptr);
  args.x = &input;
  args.y = &y;
  args.indices = indices;
  run_divisible(kPoolingForward, x, args);
}

void backward(std::string_view operation, const Tensor& dy, const Tensor* indices,
              const Pooling2d& pooling, Tensor& dx) {
  check_tensor(dy, "the output's gradient", operation, dy.device());
  check_tensor(dx, "the input's gradient", operation, dy.device());
  const Shape shape = checked_shape(operation, dx.shape(), pooling);
  require(dy.shape() == shape, operation, "expected an output's gradient of shape ", shape,
          ", got ", dy.shape());
  check_output(dx, "an input's gradient", dx.shape(), {&dy}, operation);
  Tensor positions;
  if (indices) {
    check_tensor(*indices, "the indices", operation, dy.device(), DType::i32);
    require(indices->shape() == shape, operation, "expected indices of shape ", shape, ", got ",
            indices->shape());
    positions = indices->contiguous();
  }
  if (dx.size() == 0) return;
  const Tensor gradient = dy.contiguous();
  PoolingArgs args = pooling_args(dx.shape(), shape, pooling, indices != nullptr);
  args.dy = &gradient;
  args.indices = indices ? &positions : nullptr;
  args.dx = &dx;
  run_divisible(kPoolingBackward, dy, args);
}

}  // namespace

PoolingArgs pooling_args(const Shape& x, const Shape& y, const Pooling2d& pooling, bool maximum) {
  PoolingArgs args{};
  args.maximum = maximum;
  args.count_padding = pooling.count_padding;
  args.planes = x[0] * x[1];
  args.in_h = x[2];
  args.in_w = x[3];
  args.out_h = y[2];
  args.out_w = y[3];
  args.window = pooling.window;
  args.stride = pooling.stride;
  args.padding = pooling.padding;
  return args;
}

Shape pooling2d_shape(const Shape& x, const Pooling2d& pooling) {
  return checked_shape("pool2d", x, pooling);
}

void max_pool2d_into(Tensor& y, Tensor& indices, const Tensor& x, const Pooling2d& pooling) {
  forward("max_pool2d", x, pooling, y, &indices);
}

void max_pool2d_backward_into(Tensor& dx, const Tensor& dy, const Tensor& indices,
                              const Pooling2d& pooling) {
  backward("max_pool2d_backward", dy, &indices, pooling, dx);
}

void average_pool2d_into(Tensor& y, const Tensor& x, const Pooling2d& pooling) {
  forward("average_pool2d", x, pooling, y, nullptr);
}

void average_pool2d_backward_into(Tensor& dx, const Tensor& dy, const Pooling2d& pooling) {
  backward("average_pool2d_backward", dy, nullptr, pooling, dx);
}

}  // namespace kaiseki
