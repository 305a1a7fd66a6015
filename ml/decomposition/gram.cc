// SPDX-License-Identifier: MIT
#include "ml/decomposition/gram.h"

#include <algorithm>
#include <utility>

#include "matrix/linalg/factor_cholesky.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/lazy.h"
#include "matrix/threads.h"
#include "ml/row_blocks.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr int64_t kRowsPerPiece = 64;

void center_into(const Tensor& x, const std::vector<double>& mean, double* out) {
  const int64_t features = x.dim(1);
  const float* values = x.data<float>();
  parallel_for(x.dim(0), kRowsPerPiece, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < features; ++j)
        out[i * features + j] = static_cast<double>(values[i * features + j]) - mean[j];
  });
}

Tensor gram_on_device(const Tensor& x, const std::vector<double>& mean) {
  const int64_t features = x.dim(1);
  const Tensor shift = tensor_from(mean, {features}, x.device());
  ProductSum sum({features, features}, x.device());
  for_each_row_block(x, [&](const Tensor& rows, int64_t) {
    const Tensor centered = rows - shift;
    sum.add(centered, centered);
  });
  return f64_tensor(sum.total(), {features, features});
}

/// Makes the symmetric matrix from its upper triangle.
Tensor symmetric(const std::vector<double>& sums, int64_t features) {
  Tensor gram({features, features}, DType::f64, Device::cpu());
  double* values = gram.overwrite<double>();
  for (int64_t i = 0; i < features; ++i)
    for (int64_t j = i; j < features; ++j)
      values[i * features + j] = values[j * features + i] = sums[i * features + j];
  return gram;
}

}  // namespace

ProductSum::ProductSum(const Shape& shape, Device device)
    : part_(shape, DType::f32, device), total_(static_cast<size_t>(shape.elements())) {}

void ProductSum::add(const Tensor& a, const Tensor& b) {
  gemm(a, b, part_, {.transpose_a = true, .beta = pending_ ? 1.0f : 0.0f});
  pending_ = true;
  if (part_.device().is_cpu()) flush();
}

void ProductSum::flush() {
  if (!std::exchange(pending_, false)) return;
  const std::vector<float> part = part_.to_vector();
  for (size_t i = 0; i < total_.size(); ++i) total_[i] += static_cast<double>(part[i]);
}

Tensor f64_tensor(const std::vector<double>& values, const Shape& shape) {
  return Tensor::from(std::span<const double>(values), shape, Device::cpu());
}

Tensor centered_doubles(const Tensor& x, const std::vector<double>& mean) {
  const Tensor host = on_host(x);
  Tensor result(x.shape(), DType::f64, Device::cpu());
  center_into(host, mean, result.overwrite<double>());
  return result;
}

Tensor centered_gram(const Tensor& x, const std::vector<double>& mean) {
  if (!x.device().is_cpu()) return gram_on_device(x, mean);
  const int64_t features = x.dim(1);
  std::vector<double> sums(static_cast<size_t>(features * features));
  std::vector<double> block(
      static_cast<size_t>(std::min(x.dim(0), rows_per_block(features)) * features));
  for_each_row_block(x, [&](const Tensor& rows, int64_t) {
    center_into(rows, mean, block.data());
    linalg::subtract_gram(linalg::MatrixView<double>{block.data(), rows.dim(0), features, features},
                          linalg::MatrixView<double>{sums.data(), features, features, features});
  });
  for (double& value : sums) value = -value;
  return symmetric(sums, features);
}

Tensor centered_gram_f32(const Tensor& x, const std::vector<double>& mean) {
  if (!x.device().is_cpu()) return gram_on_device(x, mean);
  const int64_t features = x.dim(1);
  const Tensor shift = tensor_from(mean, {features}, x.device());
  std::vector<double> sums(static_cast<size_t>(features * features));
  std::vector<float> part(sums.size());
  for_each_row_block(x, [&](const Tensor& rows, int64_t) {
    Tensor centered = rows - shift;
    std::ranges::fill(part, 0.0f);
    linalg::subtract_gram(
        linalg::MatrixView<float>{centered.mutable_data<float>(), rows.dim(0), features, features},
        linalg::MatrixView<float>{part.data(), features, features, features});
    for (size_t i = 0; i < sums.size(); ++i) sums[i] -= static_cast<double>(part[i]);
  });
  return symmetric(sums, features);
}

}  // namespace kaiseki::ml
