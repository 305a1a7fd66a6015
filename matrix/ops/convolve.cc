// SPDX-License-Identifier: MIT
#include "matrix/ops/convolve.h"

#include "matrix/ops/arrange.h"
#include "matrix/ops/check.h"
#include "matrix/ops/conv.h"

namespace kaiseki {
namespace {

void check_signals(const Tensor& a, const Tensor& b, std::string_view name) {
  check_tensor(a, "a", name);
  check_tensor(b, "b", name, a.device());
  require(a.rank() == b.rank() && (a.rank() == 1 || a.rank() == 2), name,
          "expected two tensors of rank 1 or of rank 2, got ", a.shape(), " and ", b.shape());
  require(a.size() > 0 && b.size() > 0, name, "expected elements in both, got ", a.shape(), " and ",
          b.shape());
}

/// As [1, 1, h, w].
Tensor as_picture(const Tensor& x) {
  const Shape shape = x.rank() == 1 ? Shape{1, 1, 1, x.dim(0)} : Shape{1, 1, x.dim(0), x.dim(1)};
  return x.contiguous().reshape(shape);
}

Tensor correlate_checked(const Tensor& a, const Tensor& b, ConvolveMode mode,
                         std::string_view name) {
  const bool valid = mode == ConvolveMode::valid;
  for (int i = 0; i < a.rank() && valid; ++i)
    require(b.dim(i) <= a.dim(i), name, "expected b to fit into a, got ", a.shape(), " and ",
            b.shape());
  const Tensor x = as_picture(a), filter = as_picture(b);
  Conv2d conv;
  if (!valid) conv.padding = {filter.dim(2) - 1, filter.dim(3) - 1};
  const ConvProblem problem = conv_problem(x.shape(), filter.shape(), conv);
  Tensor y({1, 1, problem.out_h(), problem.out_w()}, DType::f32, a.device());
  conv2d_into(y, x, filter, conv);
  y = a.rank() == 1 ? y.reshape({problem.out_w()}) : y.reshape({problem.out_h(), problem.out_w()});
  if (mode != ConvolveMode::same) return y;
  for (int i = 0; i < a.rank(); ++i) y = y.slice(i, (b.dim(i) - 1) / 2, a.dim(i));
  return y.contiguous();
}

bool is_longer(const Tensor& a, const Tensor& b) { return a.rank() == 1 && a.dim(0) > b.dim(0); }

}  // namespace

Tensor convolve(const Tensor& a, const Tensor& b, ConvolveMode mode) {
  check_signals(a, b, "convolve");
  if (is_longer(b, a)) return convolve(b, a, mode);
  return correlate_checked(a, flip(b), mode, "convolve");
}

Tensor correlate(const Tensor& a, const Tensor& b, ConvolveMode mode) {
  check_signals(a, b, "correlate");
  if (is_longer(b, a)) return flip(correlate(b, a, mode)).contiguous();
  return correlate_checked(a, b, mode, "correlate");
}

}  // namespace kaiseki
