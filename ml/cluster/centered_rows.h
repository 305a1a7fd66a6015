// SPDX-License-Identifier: MIT
// Samples and centers of clusters, relative to the mean of the samples. Squared distances from a
// matrix product lose digits if the mean is large. Rows are therefore centered when they are read.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/tensor.h"
#include "matrix/threads.h"

namespace kaiseki::ml {

/// Centers [count, features], relative to the mean.
struct Centers {
  int64_t count = 0, features = 0;
  std::vector<float> values, norms;  // norms: squared

  Centers() = default;
  Centers(int64_t count, int64_t features);
  float* row(int64_t j) { return values.data() + j * features; }
  const float* row(int64_t j) const { return values.data() + j * features; }
  /// Must be called after values change.
  void update_norms();
};

/// Centers from f32 [count, features], relative to an origin [features], and back.
Centers relative_centers(const Tensor& centers, const std::vector<float>& origin);
Tensor absolute_centers(const Centers& centers, const std::vector<float>& origin, Device device);

/// Reads the samples without a copy of all of them.
class CenteredRows {
 public:
  /// x: f32 [n, features], contiguous and on the CPU.
  explicit CenteredRows(const Tensor& x);
  /// Subtracts this mean [features].
  CenteredRows(const Tensor& x, std::vector<float> mean);

  int64_t count() const { return count_; }
  int64_t features() const { return features_; }
  const std::vector<float>& origin() const { return mean_; }
  float squared_norm(int64_t i) const { return norms_[i]; }
  /// The mean over features of the variance.
  double mean_variance() const;
  void copy_row(int64_t i, float* to) const;

 private:
  Tensor x_;
  const float* values_;
  int64_t count_, features_;
  std::vector<float> mean_, norms_;
};

/// The samples that one matrix product takes. Blocks of this size stay in the cache.
constexpr int64_t kRowsPerProduct = 256;

/// out[i * k + j] = |center j|^2 - 2 row_i center_j. The squared distance is this plus |row_i|^2.
void partial_distances(const float* rows, int64_t count, const Centers& centers, float* out);
/// The same as out[j * count + i], so that vectors can run over rows.
void partial_distances_by_center(const float* rows, int64_t count, const Centers& centers,
                                 float* out);

float squared_norm(const float* a, int64_t count);
float squared_distance(const float* a, const float* b, int64_t count);

/// A bound of the rounding error of a squared distance that partial_distances() computes.
inline float distance_slack(float row_norm, float center_norm) {
  return 2e-6f * (row_norm + center_norm);
}

/// Memory of the calling thread for blocks, kept between calls. Not initialized.
enum class BlockScratch : uint8_t { rows, products };
float* block_scratch(BlockScratch use, int64_t count);

/// Calls body(rows, begin, count) for blocks of centered rows, in parallel. Blocks have
/// kRowsPerProduct rows, except the last. `body` must not call this function.
template <typename Body>
void for_each_centered_block(const CenteredRows& x, const Body& body) {
  parallel_for(x.count(), kRowsPerProduct, [&](int64_t begin, int64_t end) {
    float* rows = block_scratch(BlockScratch::rows, (end - begin) * x.features());
    for (int64_t i = begin; i < end; ++i) x.copy_row(i, rows + (i - begin) * x.features());
    body(rows, begin, end - begin);
  });
}

/// Writes the nearest center of each row to labels [n]. Returns the sum of the squared distances.
double assign_nearest(const CenteredRows& x, const Centers& centers, int32_t* labels);

}  // namespace kaiseki::ml
