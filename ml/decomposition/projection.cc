// SPDX-License-Identifier: MIT
#include "ml/decomposition/projection.h"

#include <algorithm>
#include <cmath>

#include "matrix/ops/gemm.h"
#include "matrix/ops/lazy.h"
#include "ml/row_blocks.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

// A variance below this part of the largest one is an error of rounding. Whitening gives 0 for it.
constexpr double kNoVariance = 1e-14;

}  // namespace

void fix_signs(PrincipalAxes& axes, int64_t features) {
  for (size_t i = 0; i < axes.squares.size(); ++i) {
    double* axis = axes.axes.data() + static_cast<int64_t>(i) * features;
    const double* largest = std::max_element(
        axis, axis + features, [](double a, double b) { return std::abs(a) < std::abs(b); });
    if (*largest < 0)
      for (int64_t j = 0; j < features; ++j) axis[j] = -axis[j];
  }
}

Projection make_projection(const ProjectionInput& input, Device device) {
  const auto features = static_cast<int64_t>(input.mean.size());
  const auto count = static_cast<int64_t>(input.axes.squares.size());
  const auto divisor = static_cast<double>(input.samples - 1);
  std::vector<double> variance, ratio, singular, bias(static_cast<size_t>(count));
  std::vector<double> forward = input.axes.axes, backward = input.axes.axes;
  double kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double square = std::max(0.0, input.axes.squares[i]);
    kept += square;
    variance.push_back(square / divisor);
    ratio.push_back(input.total > 0 ? square / input.total : 0);
    singular.push_back(std::sqrt(square));
    const double scale = std::sqrt(square / divisor);
    const bool flat = square <= kNoVariance * std::max(input.total, 0.0);
    for (int64_t j = 0; j < features; ++j) {
      double& to = forward[i * features + j];
      if (input.whiten) {
        to = flat ? 0 : to / scale;
        backward[i * features + j] *= flat ? 0 : scale;
      }
      // The mean is subtracted in f32. This is the rest.
      bias[i] += to * (static_cast<double>(static_cast<float>(input.mean[j])) - input.mean[j]);
    }
  }
  Projection result;
  const auto tensor = [&](const std::vector<double>& values, const Shape& shape) {
    return tensor_from(values, shape, device);
  };
  result.components = tensor(input.axes.axes, {count, features});
  result.explained_variance = tensor(variance, {count});
  result.explained_variance_ratio = tensor(ratio, {count});
  result.singular_values = tensor(singular, {count});
  result.mean = tensor(input.mean, {features});
  result.forward = tensor(forward, {count, features});
  result.forward_bias = tensor(bias, {count});
  result.backward = tensor(backward, {count, features});
  if (count < input.most)
    result.noise_variance =
        std::max(0.0, input.total - kept) / divisor / static_cast<double>(input.most - count);
  return result;
}

Tensor Projection::apply(const Tensor& x, std::string_view name) const {
  check_fitted(defined(), name);
  check_samples(x, mean.dim(0), name);
  const Device device = x.device();
  const Tensor samples = x.contiguous(), shift = mean.to(device), to = forward.to(device),
               bias = forward_bias.to(device);
  Tensor result({x.dim(0), components.dim(0)}, DType::f32, device);
  for_each_row_block(samples, [&](const Tensor& rows, int64_t begin) {
    Tensor out = result.slice(0, begin, rows.dim(0));
    gemm(rows - shift, to, out, {.transpose_b = true, .bias_per_column = &bias});
  });
  return result;
}

Tensor Projection::invert(const Tensor& z, std::string_view name) const {
  check_fitted(defined(), name);
  check_samples(z, components.dim(0), name);
  const Tensor from = backward.to(z.device()), shift = mean.to(z.device());
  Tensor result({z.dim(0), mean.dim(0)}, DType::f32, z.device());
  gemm(z.contiguous(), from, result, {.bias_per_column = &shift});
  return result;
}

}  // namespace kaiseki::ml
