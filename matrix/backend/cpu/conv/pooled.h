// SPDX-License-Identifier: MIT
// Max pooling in the same pass as a convolution (ConvArgs::pooling), for solvers that support it.
// At most a band of rows of the convolution's output or gradient is in memory at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/backend/operations/pooling.h"

namespace kaiseki::conv {

/// The data pointers of a pooling's tensors, taken once before threads read and write them.
struct PoolingTarget {
  explicit PoolingTarget(const PoolingArgs& pooling)
      : args(pooling),
        y(pooling.y->overwrite<float>()),
        indices(pooling.indices ? pooling.indices->overwrite<int32_t>() : nullptr) {}
  const PoolingArgs& args;
  float* y;
  int32_t* indices;
};
struct PoolingSource {
  explicit PoolingSource(const PoolingArgs& pooling)
      : args(pooling), dy(pooling.dy->data<float>()), indices(pooling.indices->data<int32_t>()) {}
  const PoolingArgs& args;
  const float* dy;
  const int32_t* indices;
};

/// Computes the pooling of planes of a convolution's output from top to bottom. It uses this
/// thread's scratch memory, so a thread can have only one object of this class.
class PooledPlanes {
 public:
  /// `block_rows`: the maximum number of rows passed to add().
  PooledPlanes(const PoolingTarget& target, int64_t first_plane, int64_t planes,
               int64_t block_rows);

  /// The address for the next rows of the first plane. The next plane is rows() rows further.
  float* next() { return band_ + (written_ - first_) * target_.args.in_w; }
  int64_t rows() const { return rows_; }
  /// Call this after `count` rows are written at next(). Computes all complete windows. Ignores
  /// rows below the plane.
  void add(int64_t count);

 private:
  const PoolingTarget& target_;
  int64_t plane_, planes_, rows_;
  /// First row in the band, next row, next pooled row.
  int64_t first_ = 0, written_ = 0, pooled_ = 0;
  float* band_;
  std::vector<int32_t> unwanted_;  // indices that the caller does not need
};

/// Rows of the gradient of a convolution's output for neighboring planes, in this thread's scratch
/// memory.
class UnpooledRows {
 public:
  /// Computes rows begin..end. Rows outside the plane are zeros. For several images, the same
  /// planes of the next image are `image_planes` further.
  UnpooledRows(const PoolingSource& source, int64_t first_plane, int64_t planes, int64_t begin,
               int64_t end, int64_t images = 1, int64_t image_planes = 0);
  /// Row `begin` of the first plane. The next plane is rows() rows further. The next image follows
  /// the last plane.
  const float* data() const { return data_; }
  int64_t rows() const { return rows_; }

 private:
  const float* data_;
  int64_t rows_;
};

/// Returns whether the threads have nearly equal work if each computes whole images and groups.
bool shares_evenly(int64_t tasks);

}  // namespace kaiseki::conv
