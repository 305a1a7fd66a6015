// SPDX-License-Identifier: MIT
// Data sets and results of scikit-learn, which tests/reference/make_ml_*_cases.py wrote.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/json.h"
#include "matrix/tensor.h"
#include "tests/support/reference.h"

namespace kaiseki::test {

struct MlData {
  Tensor x, y;  // f32 [n, features], i32 [n]
};

inline std::string read_ml_file(const std::string& name) {
  std::ifstream file(std::string(KAISEKI_SOURCE_DIR) + "/tests/reference/ml/" + name);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// "iris", "breast_cancer" or "digits".
inline MlData load_ml_data(const std::string& name, Device device = Device::cpu()) {
  const bool digits = name == "digits";
  const std::string text = read_ml_file(digits ? "digits_pixels.txt" : name + ".csv");
  std::vector<float> values;
  std::vector<int32_t> labels;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t last = line.find_last_of(", ");
    labels.push_back(std::stoi(line.substr(last + 1)));
    if (digits) {
      for (size_t i = 0; i < last; ++i)
        values.push_back(static_cast<float>(std::stoi(line.substr(i, 1), nullptr, 17)));
    } else {
      for (size_t i = 0; i < last; i = line.find(',', i) + 1)
        values.push_back(std::stof(line.substr(i)));
    }
  }
  const auto n = static_cast<int64_t>(labels.size());
  return {Tensor::from(std::span<const float>(values), {n, static_cast<int64_t>(values.size()) / n},
                       device),
          Tensor::from(std::span<const int32_t>(labels), {n}, device)};
}

inline Json load_ml_reference(const std::string& name) {
  return parse_json(read_ml_file(name + ".json"), name);
}

/// All numbers of nested arrays, in order.
inline Doubles numbers_of(const Json& value) {
  if (value.is(Json::Kind::number)) return {value.number};
  Doubles all;
  for (const Json& item : value.items) {
    const Doubles some = numbers_of(item);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

inline const Json& member(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  REQUIRE(value != nullptr);
  return *value;
}

inline Doubles numbers_of(const Json& object, std::string_view key) {
  return numbers_of(member(object, key));
}
inline double number_of(const Json& object, std::string_view key) {
  return member(object, key).number;
}
inline int64_t integer_of(const Json& object, std::string_view key) {
  return static_cast<int64_t>(member(object, key).number);
}

/// Clusters of points around `centers` [k, features] with this standard deviation, n points each in
/// turn: sample i belongs to center i % k.
inline Tensor blobs(const std::vector<std::vector<float>>& centers, int64_t n, float deviation,
                    uint64_t seed, Device device = Device::cpu()) {
  Random random(seed);
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i)
    for (const float center : centers[static_cast<size_t>(i) % centers.size()])
      values.push_back(center + deviation * random.normal());
  return Tensor::from(std::span<const float>(values), {n, static_cast<int64_t>(centers[0].size())},
                      device);
}

/// Each vector of `actual` [count, length] equals that of `expected`, or its negative.
inline void check_close_up_to_signs(const Doubles& actual, const Doubles& expected, int64_t count,
                                    double absolute) {
  REQUIRE(actual.size() == expected.size());
  const size_t length = actual.size() / static_cast<size_t>(count);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    double product = 0;
    for (size_t j = 0; j < length; ++j)
      product += actual[i * length + j] * expected[i * length + j];
    for (size_t j = 0; j < length; ++j) {
      INFO("vector " << i << ", element " << j);
      const double value = product < 0 ? -actual[i * length + j] : actual[i * length + j];
      CHECK(std::abs(value - expected[i * length + j]) <= absolute);
    }
  }
}

}  // namespace kaiseki::test
