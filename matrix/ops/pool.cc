// SPDX-License-Identifier: MIT
#include "matrix/ops/pool.h"

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/pool.h"
#include "matrix/ops/check.h"

namespace kaiseki {
namespace {

/// The output length along one axis. A window that starts in the padding behind the input is
/// dropped. Such a window exists only if the size is rounded up.
int64_t output_length(int64_t in, const Pool2d& pool, int axis) {
  const int64_t free = in + 2 * pool.padding[axis] - pool.window[axis], stride = pool.stride[axis];
  if (!pool.ceil_mode) return free / stride + 1;
  const int64_t length = (free + stride - 1) / stride + 1;
  return (length - 1) * stride >= in + pool.padding[axis] ? length - 1 : length;
}

Shape checked_shape(std::string_view operation, const Shape& x, const Pool2d& pool) {
  require(x.rank() == 4, operation, "expected an input [n, c, h, w], got ", x);
  for (int i = 0; i < 2; ++i) {
    require(pool.window[i] >= 1, operation, "expected a window of at least 1, got ",
            pool.window[i]);
    require(pool.stride[i] >= 1, operation, "expected a stride of at least 1, got ",
            pool.stride[i]);
    require(pool.padding[i] >= 0 && 2 * pool.padding[i] <= pool.window[i], operation,
            "expected a padding of at most half the window ", pool.window[i], ", got ",
            pool.padding[i]);
    require(x[2 + i] >= 1 && x[2 + i] + 2 * pool.padding[i] >= pool.window[i], operation,
            "expected an input with its padding of at least the window ", pool.window[0], "x",
            pool.window[1], ", got ", x);
  }
  return {x[0], x[1], output_length(x[2], pool, 0), output_length(x[3], pool, 1)};
}

void forward(std::string_view operation, const Tensor& x, const Pool2d& pool, Tensor& y,
             Tensor* indices) {
  check_tensor(x, "the input", operation, x.device());
  check_tensor(y, "the output", operation, x.device());
  const Shape shape = checked_shape(operation, x.shape(), pool);
  check_output(y, "an output", shape, {&x}, operation);
  if (indices) {
    check_tensor(*indices, "the indices", operation, x.device(), DType::i32);
    check_output(*indices, "indices", shape, {&x, &y}, operation);
  }
  if (y.size() == 0) return;
  const Tensor input = x.contiguous();
  PoolArgs args = pool_args(x.shape(), shape, pool, indices != nullptr);
  args.x = &input;
  args.y = &y;
  args.indices = indices;
  run_operation(kPoolForward, x, args);
}

void backward(std::string_view operation, const Tensor& dy, const Tensor* indices,
              const Pool2d& pool, Tensor& dx) {
  check_tensor(dy, "the output's gradient", operation, dy.device());
  check_tensor(dx, "the input's gradient", operation, dy.device());
  const Shape shape = checked_shape(operation, dx.shape(), pool);
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
  PoolArgs args = pool_args(dx.shape(), shape, pool, indices != nullptr);
  args.dy = &gradient;
  args.indices = indices ? &positions : nullptr;
  args.dx = &dx;
  run_operation(kPoolBackward, dy, args);
}

}  // namespace

PoolArgs pool_args(const Shape& x, const Shape& y, const Pool2d& pool, bool maximum) {
  PoolArgs args{};
  args.maximum = maximum;
  args.count_padding = pool.count_padding;
  args.planes = x[0] * x[1];
  args.in_h = x[2];
  args.in_w = x[3];
  args.out_h = y[2];
  args.out_w = y[3];
  args.window = pool.window;
  args.stride = pool.stride;
  args.padding = pool.padding;
  return args;
}

Shape pool2d_shape(const Shape& x, const Pool2d& pool) { return checked_shape("pool2d", x, pool); }

void max_pool2d(const Tensor& x, const Pool2d& pool, Tensor& y, Tensor& indices) {
  forward("max_pool2d", x, pool, y, &indices);
}

void max_pool2d_backward(const Tensor& dy, const Tensor& indices, const Pool2d& pool, Tensor& dx) {
  backward("max_pool2d_backward", dy, &indices, pool, dx);
}

void average_pool2d(const Tensor& x, const Pool2d& pool, Tensor& y) {
  forward("average_pool2d", x, pool, y, nullptr);
}

void average_pool2d_backward(const Tensor& dy, const Pool2d& pool, Tensor& dx) {
  backward("average_pool2d_backward", dy, nullptr, pool, dx);
}

}  // namespace kaiseki
