// SPDX-License-Identifier: MIT
// Samples on a device other than the CPU. Only single samples and sums come to the host.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

class DeviceRows {
 public:
  /// x: f32 [n, features]
  explicit DeviceRows(const Tensor& x);

  int64_t count() const { return x_.dim(0); }
  int64_t features() const { return x_.dim(1); }
  Device device() const { return x_.device(); }
  const Tensor& tensor() const { return x_; }  // contiguous
  /// The mean over features of the variance.
  double mean_variance() const;
  /// 0 for each feature. Distances come from differences, so a large mean costs no digits.
  const std::vector<float>& origin() const { return origin_; }
  /// Copies one sample to the host.
  void copy_row(int64_t i, float* to) const;

 private:
  Tensor x_;
  std::vector<float> origin_;
};

}  // namespace kaiseki::ml
