// SPDX-License-Identifier: MIT
// Parts of a data set, as tests/reference/make_ml_neighbors_cases.py makes them.
#pragma once

#include <vector>

#include "tests/support/ml_cases.h"

namespace kaiseki::test {

struct TestParts {
  Tensor test_x, test_y, train_x, train_y;
};

/// Tests with the samples whose number is a multiple of 5.
inline TestParts every_fifth(const MlSet& data) {
  std::vector<float> test_x, train_x;
  std::vector<int32_t> test_y, train_y;
  const std::vector<float> x = data.x.to_vector();
  const std::vector<int32_t> y = data.y.to_vector<int32_t>();
  const int64_t features = data.x.dim(1);
  for (int64_t i = 0; i < data.x.dim(0); ++i) {
    std::vector<float>& to = i % 5 == 0 ? test_x : train_x;
    to.insert(to.end(), x.begin() + i * features, x.begin() + (i + 1) * features);
    (i % 5 == 0 ? test_y : train_y).push_back(y[i]);
  }
  const auto n = static_cast<int64_t>(test_y.size()), m = static_cast<int64_t>(train_y.size());
  return {Tensor::from(std::span<const float>(test_x), {n, features}),
          Tensor::from(std::span<const int32_t>(test_y), {n}),
          Tensor::from(std::span<const float>(train_x), {m, features}),
          Tensor::from(std::span<const int32_t>(train_y), {m})};
}

inline Tensor column(const Tensor& x, int64_t i) {
  return x.slice(1, i, 1).contiguous().reshape({-1});
}

}  // namespace kaiseki::test
