// SPDX-License-Identifier: MIT
#include "ml/cluster/device_rows.h"

#include <algorithm>

#include "matrix/ops/cluster.h"
#include "matrix/ops/reduce.h"

namespace kaiseki::ml {

DeviceRows::DeviceRows(const Tensor& x)
    : x_(x.contiguous()), origin_(static_cast<size_t>(x.dim(1))) {}

double DeviceRows::mean_variance() const {
  const Tensor squares = squared_distances(x_, mean(x_, {0}, true));
  return static_cast<double>(mean(squares).item()) / static_cast<double>(features());
}

void DeviceRows::copy_row(int64_t i, float* to) const {
  const std::vector<float> row = x_.slice(0, i, 1).clone().to_vector();
  std::copy(row.begin(), row.end(), to);
}

}  // namespace kaiseki::ml
