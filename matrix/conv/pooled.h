// SPDX-License-Identifier: MIT
// What solvers of convolutions share that compute the maximum pooling of the output in the same
// pass (ConvArgs::pool): of the output, or of its gradient, there is never more than a band of
// rows.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/backend.h"

namespace kaiseki::conv {

/// The tensors of a pooling, taken once before threads read and write them.
struct PoolTarget {
  explicit PoolTarget(const PoolArgs& pool)
      : args(pool),
        y(pool.y->overwrite<float>()),
        indices(pool.indices ? pool.indices->overwrite<int32_t>() : nullptr) {}
  const PoolArgs& args;
  float* y;
  int32_t* indices;
};
struct PoolSource {
  explicit PoolSource(const PoolArgs& pool)
      : args(pool), dy(pool.dy->data<float>()), indices(pool.indices->data<int32_t>()) {}
  const PoolArgs& args;
  const float* dy;
  const int32_t* indices;
};

/// Some planes of a convolution's output, from the top down, on their way into a pooling. In this
/// thread's scratch: one at a time.
class PooledPlanes {
 public:
  /// At most `block_rows` rows are added at a time.
  PooledPlanes(const PoolTarget& target, int64_t first_plane, int64_t planes, int64_t block_rows);

  /// Where the next rows of the first plane go; those of the next plane are rows() rows further.
  float* next() { return band_ + (written_ - first_) * target_.args.in_w; }
  int64_t rows() const { return rows_; }
  /// They are there: pools what is complete. Rows below the plane do not count.
  void add(int64_t count);

 private:
  const PoolTarget& target_;
  int64_t plane_, planes_, rows_;
  int64_t first_ = 0, written_ = 0, pooled_ = 0;  // row of the band, next row, next pooled row
  float* band_;
  std::vector<int32_t> unwanted_;  // indices
};

/// Rows of neighbouring planes of the gradient of a convolution's output, in this thread's scratch.
class UnpooledRows {
 public:
  /// Rows begin..end, zeros where they lie outside of the plane; of several images, if the same
  /// planes of the next are `image_planes` further.
  UnpooledRows(const PoolSource& source, int64_t first_plane, int64_t planes, int64_t begin,
               int64_t end, int64_t images = 1, int64_t image_planes = 0);
  /// Row `begin` of the first plane; that of the next is rows() rows further, the next image after
  /// the last plane.
  const float* data() const { return data_; }
  int64_t rows() const { return rows_; }

 private:
  const float* data_;
  int64_t rows_;
};

/// Whether all threads have as good as the same to do when each computes whole images and groups.
bool shares_evenly(int64_t tasks);

}  // namespace kaiseki::conv
