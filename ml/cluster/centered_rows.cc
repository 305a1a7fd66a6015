// SPDX-License-Identifier: MIT
#include "ml/cluster/centered_rows.h"

#include <algorithm>
#include <utility>

#include "matrix/backend/cpu/gemm.h"
#include "matrix/ceil_div.h"
#include "matrix/memory/host.h"
#include "ml/moments.h"

namespace kaiseki::ml {
namespace {

// Independent sums, which the compiler puts into vectors.
constexpr int kLanes = 16, kFewLanes = 4;

/// Adds halves, so that the sums of a step do not wait for each other.
float sum_of(float (&lanes)[kLanes]) {
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

std::vector<float> rounded(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

float squared_norm(const float* a, int64_t count) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * a[i + lane];
  for (; i < count; ++i) lanes[i % kLanes] += a[i] * a[i];
  return sum_of(lanes);
}

float squared_distance(const float* a, const float* b, int64_t count) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) {
      const float difference = a[i + lane] - b[i + lane];
      lanes[lane] += difference * difference;
    }
  for (; i + kFewLanes <= count; i += kFewLanes)
    for (int lane = 0; lane < kFewLanes; ++lane) {
      const float difference = a[i + lane] - b[i + lane];
      lanes[lane] += difference * difference;
    }
  for (; i < count; ++i) lanes[i % kLanes] += (a[i] - b[i]) * (a[i] - b[i]);
  return sum_of(lanes);
}

float* block_scratch(BlockScratch use, int64_t count) {
  static thread_local Scratch scratch[2];
  return scratch[static_cast<size_t>(use)].reserve(count);
}

Centers::Centers(int64_t count, int64_t features)
    : count(count),
      features(features),
      values(static_cast<size_t>(count * features)),
      norms(static_cast<size_t>(count)) {}

void Centers::update_norms() {
  for (int64_t j = 0; j < count; ++j) norms[j] = squared_norm(row(j), features);
}

Centers relative_centers(const Tensor& centers, const std::vector<float>& origin) {
  Centers result(centers.dim(0), centers.dim(1));
  result.values = centers.to_vector<float>();
  for (int64_t j = 0; j < result.count; ++j)
    for (int64_t f = 0; f < result.features; ++f) result.row(j)[f] -= origin[f];
  result.update_norms();
  return result;
}

Tensor absolute_centers(const Centers& centers, const std::vector<float>& origin, Device device) {
  std::vector<float> values = centers.values;
  for (int64_t j = 0; j < centers.count; ++j)
    for (int64_t f = 0; f < centers.features; ++f) values[j * centers.features + f] += origin[f];
  return Tensor::from(std::span<const float>(values), {centers.count, centers.features}, device);
}

CenteredRows::CenteredRows(const Tensor& x) : CenteredRows(x, rounded(column_means(x))) {}

CenteredRows::CenteredRows(const Tensor& x, std::vector<float> mean)
    : x_(x),
      values_(x.data<float>()),
      count_(x.dim(0)),
      features_(x.dim(1)),
      mean_(std::move(mean)),
      norms_(static_cast<size_t>(count_)) {
  for_each_centered_block(*this, [&](const float* rows, int64_t begin, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      norms_[begin + i] = ml::squared_norm(rows + i * features_, features_);
  });
}

double CenteredRows::mean_variance() const {
  double sum = 0;
  for (const float norm : norms_) sum += norm;
  return sum / static_cast<double>(count_) / static_cast<double>(features_);
}

void CenteredRows::copy_row(int64_t i, float* to) const {
  const float* from = values_ + i * features_;
  const float* mean = mean_.data();
  for (int64_t j = 0; j < features_; ++j) to[j] = from[j] - mean[j];
}

void partial_distances(const float* rows, int64_t count, const Centers& centers, float* out) {
  cpu::Gemm product;
  product.trans_b = true;
  product.m = count, product.n = centers.count, product.k = centers.features;
  product.alpha = -2;
  product.a = rows, product.lda = centers.features;
  product.b = centers.values.data(), product.ldb = centers.features;
  product.c = out, product.ldc = centers.count;
  product.bias_col = centers.norms.data();
  cpu::gemm(product);
}

void partial_distances_by_center(const float* rows, int64_t count, const Centers& centers,
                                 float* out) {
  cpu::Gemm product;
  product.trans_b = true;
  product.m = centers.count, product.n = count, product.k = centers.features;
  product.alpha = -2;
  product.a = centers.values.data(), product.lda = centers.features;
  product.b = rows, product.ldb = centers.features;
  product.c = out, product.ldc = count;
  product.bias_row = centers.norms.data();
  cpu::gemm(product);
}

double assign_nearest(const CenteredRows& x, const Centers& centers, int32_t* labels) {
  const int64_t blocks = ceil_div(x.count(), kRowsPerProduct);
  std::vector<double> sums(static_cast<size_t>(blocks));
  for_each_centered_block(x, [&](const float* rows, int64_t begin, int64_t count) {
    float* partial = block_scratch(BlockScratch::products, count * centers.count);
    partial_distances(rows, count, centers, partial);
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      const float* row = partial + i * centers.count;
      const int64_t nearest = std::min_element(row, row + centers.count) - row;
      labels[begin + i] = static_cast<int32_t>(nearest);
      sum += squared_distance(rows + i * x.features(), centers.row(nearest), x.features());
    }
    sums[begin / kRowsPerProduct] = sum;
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace kaiseki::ml
