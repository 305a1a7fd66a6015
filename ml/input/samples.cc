// SPDX-License-Identifier: MIT
#include "ml/input/samples.h"

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "matrix/ops/check.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/reduce.h"
#include "matrix/threads.h"

namespace kaiseki::ml {
namespace {

constexpr int64_t kBlockElements = 1 << 18;
constexpr int64_t kLeastRows = 64;

bool finite_on_host(const Tensor& x) {
  const float* values = x.data<float>();
  std::atomic<bool> finite = true;
  parallel_for(x.size(), kBlockElements, [&](int64_t begin, int64_t end) {
    // 0 * x is NaN for NaN and infinity. Eight sums do not wait for each other.
    float sums[8] = {};
    int64_t i = begin;
    for (; i + 8 <= end; i += 8)
      for (int lane = 0; lane < 8; ++lane) sums[lane] += 0 * values[i + lane];
    for (; i < end; ++i) sums[0] += 0 * values[i];
    for (const float sum : sums)
      if (sum != 0) finite = false;
  });
  return finite;
}

bool finite_on_device(const Tensor& x) {
  Tensor count = Tensor::zeros({}, DType::i32, x.device());
  for_each_row_block(x,
                     [&](const Tensor& rows, int64_t) { count += sum(Tensor(!isfinite(rows))); });
  return count.item<int32_t>() == 0;
}

}  // namespace

Tensor check_samples(const Tensor& x, std::string_view name) {
  check_tensor(x, "x", name);
  require(x.rank() == 2, name, "expected x of shape [samples, features], got ", x.shape());
  require(x.size() > 0, name, "expected one sample and one feature or more, got ", x.shape());
  require(x.dim(0) < int64_t{1} << 31, name, "expected fewer than 2^31 samples, got ", x.dim(0));
  const Tensor samples = x.contiguous();
  if (!(x.device().is_cpu() ? finite_on_host(samples) : finite_on_device(samples)))
    throw Error(message(name, "expected finite elements in x, got NaN or infinity"));
  return samples;
}

Tensor check_samples(const Tensor& x, int64_t features, std::string_view name) {
  check_tensor(x, "x", name);
  require(x.rank() == 2 && x.dim(1) == features, name, "expected x of shape [samples, ", features,
          "], as in fit(), got ", x.shape());
  return check_samples(x, name);
}

void check_at_least(int64_t value, int64_t least, std::string_view setting, std::string_view name) {
  if (value < least)
    throw Error(message(name, "expected ", setting, " of ", least, " or more, got ", value));
}

void check_fitted(bool fitted, std::string_view name) {
  if (!fitted) throw Error(message(name, "the estimator is not fitted; call fit() first"));
}

int64_t rows_per_block(int64_t features) {
  return std::max(kLeastRows, kBlockElements / std::max<int64_t>(1, features));
}

void for_each_row_block(const Tensor& x,
                        const std::function<void(const Tensor& rows, int64_t begin)>& body) {
  const int64_t step = rows_per_block(x.dim(1));
  for (int64_t begin = 0; begin < x.dim(0); begin += step)
    body(x.slice(0, begin, std::min(step, x.dim(0) - begin)), begin);
}

std::vector<double> feature_means(const Tensor& x) {
  const int64_t first = std::min(x.dim(0), rows_per_block(x.dim(1)));
  // Sums of differences from an approximate mean are exact enough in f32 for each block.
  const Tensor shift = mean(x.slice(0, 0, first), {0});
  std::vector<double> means(static_cast<size_t>(x.dim(1)));
  for_each_row_block(x, [&](const Tensor& rows, int64_t) {
    const std::vector<float> sums = sum(Tensor(rows - shift), {0}).to_vector<float>();
    for (size_t j = 0; j < means.size(); ++j) means[j] += sums[j];
  });
  const std::vector<float> shifts = shift.to_vector<float>();
  for (size_t j = 0; j < means.size(); ++j)
    means[j] = means[j] / static_cast<double>(x.dim(0)) + shifts[j];
  return means;
}

Tensor tensor_from(const std::vector<double>& values, const Shape& shape, Device device) {
  const std::vector<float> rounded(values.begin(), values.end());
  return Tensor::from(std::span<const float>(rounded), shape, device);
}

std::vector<double> doubles_from(const Tensor& t) {
  if (t.dtype() == DType::f64) return t.to_vector<double>();
  const std::vector<float> values = t.to_vector<float>();
  return {values.begin(), values.end()};
}

}  // namespace kaiseki::ml
