// SPDX-License-Identifier: MIT
// References for tests: values in double, computed by plain loops, and a comparison that reports
// the position of a difference.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "matrix/random.h"
#include "matrix/tensor.h"

namespace kaiseki::test {

using Doubles = std::vector<double>;

template <class T>
Doubles doubles_as(const Tensor& t) {
  const auto values = t.to_vector<T>();
  return Doubles(values.begin(), values.end());
}

/// The elements of a tensor of any type.
inline Doubles doubles(const Tensor& t) {
  switch (t.dtype()) {
    case DType::f32:
      return doubles_as<float>(t);
    case DType::f64:
      return doubles_as<double>(t);
    case DType::i32:
      return doubles_as<int32_t>(t);
    case DType::u8:
    case DType::boolean:
      break;
  }
  return t.dtype() == DType::u8 ? doubles_as<uint8_t>(t) : doubles_as<bool>(t);
}

/// Uniform numbers in [low, high) from a seed.
inline Tensor random_tensor(const Shape& shape, uint64_t seed, Device device = Device::cpu(),
                            float low = -1, float high = 1) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (float& v : values) v = low + (high - low) * random.uniform();
  return Tensor::from(std::span<const float>(values), shape, device);
}

/// Calls body(index) for every index of `shape`, row-major.
inline void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& body) {
  int64_t count = shape.elements();
  Shape index = shape;
  for (int i = 0; i < shape.rank(); ++i) index[i] = 0;
  for (int64_t flat = 0; flat < count; ++flat) {
    body(index);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

/// Position of `index` in a row-major tensor of `shape` that broadcasts to the index's shape.
inline int64_t broadcast_position(const Shape& shape, const Shape& index) {
  int64_t position = 0;
  int lead = index.rank() - shape.rank();
  for (int i = 0; i < shape.rank(); ++i)
    position = position * shape[i] + (shape[i] == 1 ? 0 : index[lead + i]);
  return position;
}

/// Requires |actual - expected| <= absolute + relative * |expected| for each element. A NaN or an
/// infinity must match exactly.
inline void check_close(const Doubles& actual, const Doubles& expected, double relative,
                        double absolute = 0) {
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    double a = actual[i], e = expected[i];
    bool same = std::isfinite(e) ? std::abs(a - e) <= absolute + relative * std::abs(e)
                                 : (std::isnan(e) ? std::isnan(a) : a == e);
    if (same) continue;
    INFO("element " << i << ": " << a << ", expected " << e);
    FAIL_CHECK("values differ");
    return;
  }
}

inline void check_close(const Tensor& actual, const Doubles& expected, double relative,
                        double absolute = 0) {
  check_close(doubles(actual), expected, relative, absolute);
}

}  // namespace kaiseki::test
