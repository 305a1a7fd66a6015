// SPDX-License-Identifier: MIT
// Iris, digits and breast cancer for classifiers and for regressors, as tests/reference/ml_cases.py
// makes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "matrix/tensor.h"
#include "tests/support/ml_cases.h"
#include "tests/support/synthetic_sets.h"

namespace kaiseki::test {

/// The names for labeled_set(), real_targets() and ml_set().
inline const std::vector<std::string>& real_sets() {
  static const std::vector<std::string> names{"iris", "digits", "cancer"};
  return names;
}

/// targets() of ml_cases.py: one feature from the others. Of digits, the digit from its pixels.
inline MlSet real_targets(const std::string& name) {
  const MlSet set = ml_set(name);
  if (name == "digits") {
    std::vector<double> pixels, digit;
    for (float value : set.x.slice(0, 0, 600).to_vector())
      pixels.push_back(static_cast<double>(value) / 16);
    for (int32_t value : set.y.slice(0, 0, 600).to_vector<int32_t>()) digit.push_back(value);
    return {floats(pixels, {600, 64}), floats(digit, {600})};
  }
  const int64_t d = set.x.dim(1);
  if (name == "iris")
    return {scaled(set.x.slice(1, 0, d - 1).contiguous()),
            set.x.slice(1, d - 1, 1).contiguous().reshape({-1})};
  const Tensor columns = scaled(set.x);
  return {columns.slice(1, 1, d - 1).contiguous(),
          columns.slice(1, 0, 1).contiguous().reshape({-1})};
}

/// The samples of every fifth row, or all others.
template <class T>
Tensor fifth_rows(const Tensor& x, bool test) {
  const int64_t width = x.rank() == 2 ? x.dim(1) : 1;
  const std::vector<T> all = x.to_vector<T>();
  std::vector<T> part;
  for (int64_t i = 0; i < x.dim(0); ++i)
    if ((i % 5 == 0) == test)
      part.insert(part.end(), all.begin() + i * width, all.begin() + (i + 1) * width);
  const auto count = static_cast<int64_t>(part.size()) / width;
  return Tensor::from(std::span<const T>(part), x.rank() == 2 ? Shape{count, width} : Shape{count},
                      Device::cpu());
}

/// every_fifth() of ml_cases.py: every fifth sample is for the test.
inline TrainingAndTest fifth_for_test(const MlSet& set) {
  const auto targets = [&](bool test) {
    return set.y.dtype() == DType::i32 ? fifth_rows<int32_t>(set.y, test)
                                       : fifth_rows<float>(set.y, test);
  };
  return {{fifth_rows<float>(set.x, false), targets(false)},
          {fifth_rows<float>(set.x, true), targets(true)}};
}

}  // namespace kaiseki::test
