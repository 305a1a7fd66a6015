// SPDX-License-Identifier: MIT
// The data sets and cases of tests/reference/ml, which tests/reference/make_ml_*_cases.py wrote.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "matrix/random.h"
#include "matrix/tensor.h"
#include "tests/support/source_dir.h"

namespace kaiseki::test {

/// A matrix of numbers.
struct MlCase {
  int64_t rows = 0, columns = 0;
  std::vector<double> values;
};

/// The cases of a file by name. A missing name fails the test.
class MlCases {
 public:
  explicit MlCases(const std::string& file) {
    std::ifstream stream(test::source_dir() + "/tests/reference/ml/" + file);
    REQUIRE(stream.good());
    for (std::string line; std::getline(stream, line);) {
      std::istringstream words(line);
      std::string name;
      MlCase read;
      words >> name >> read.rows >> read.columns;
      for (double value = 0; words >> value;) read.values.push_back(value);
      REQUIRE(static_cast<int64_t>(read.values.size()) == read.rows * read.columns);
      cases_[name] = read;
    }
  }
  const MlCase& operator[](const std::string& name) const {
    const auto found = cases_.find(name);
    REQUIRE_MESSAGE(found != cases_.end(), name);
    return found->second;
  }
  double number(const std::string& name) const { return (*this)[name].values.at(0); }

 private:
  std::map<std::string, MlCase> cases_;
};

inline Tensor floats(const std::vector<double>& values, const Shape& shape,
                     Device device = Device::cpu()) {
  const std::vector<float> narrow(values.begin(), values.end());
  return Tensor::from(std::span<const float>(narrow), shape, device);
}
inline Tensor integers(const std::vector<double>& values, const Shape& shape,
                       Device device = Device::cpu()) {
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return Tensor::from(std::span<const int32_t>(narrow), shape, device);
}
inline Tensor matrix(const MlCase& c, Device device = Device::cpu()) {
  return floats(c.values, {c.rows, c.columns}, device);
}
inline Tensor labels(const MlCase& c, Device device = Device::cpu()) {
  return integers(c.values, {c.rows * c.columns}, device);
}

/// Samples x [n, features], and y: labels i32 [n], or targets f32 [n] or [n, outputs].
struct MlSet {
  Tensor x, y;
  MlSet to(Device device) const { return {x.to(device), y.to(device)}; }
};

/// "iris", "cancer" or "digits".
inline MlSet ml_set(const std::string& name) {
  if (name != "digits") {
    const MlCases cases(name + ".txt");
    return {matrix(cases["x"]), labels(cases["y"])};
  }
  std::ifstream stream(test::source_dir() + "/tests/reference/ml/digits.txt");
  REQUIRE(stream.good());
  std::vector<double> x, y;
  for (std::string line; std::getline(stream, line);) {
    for (int i = 0; i < 64; ++i) x.push_back(line[static_cast<size_t>(i)] - 'A');
    y.push_back(line[64] - '0');
  }
  const auto n = static_cast<int64_t>(y.size());
  return {floats(x, {n, 64}), integers(y, {n})};
}

/// numbers() of ml_cases.py, in [-1, 1).
inline std::vector<double> lcg_numbers(int64_t count, uint32_t state) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values.push_back(static_cast<double>(state >> 8) / 8388608.0 - 1);
  }
  return values;
}

/// regression() of ml_cases.py.
inline MlSet regression_set(int64_t rows, int64_t columns, int64_t outputs, uint32_t seed) {
  std::vector<double> x = lcg_numbers(rows * columns, seed);
  const std::vector<double> w = lcg_numbers(columns * outputs, seed + 1);
  std::vector<double> y = lcg_numbers(rows * outputs, seed + 2);
  for (double& value : x) value = static_cast<float>(value + 0.5);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t o = 0; o < outputs; ++o) {
      double& target = y[i * outputs + o];
      target = 0.1 * target + 2;
      for (int64_t j = 0; j < columns; ++j)
        if (j % 3 != 2) target += x[i * columns + j] * w[j * outputs + o];
    }
  return {floats(x, {rows, columns}), floats(y, outputs == 1 ? Shape{rows} : Shape{rows, outputs})};
}

/// blobs() of ml_cases.py.
inline MlSet blobs_set(int64_t rows, int64_t columns, int64_t classes, uint32_t seed) {
  std::vector<double> x = lcg_numbers(rows * columns, seed), y;
  const std::vector<double> centers = lcg_numbers(classes * columns, seed + 1);
  for (int64_t i = 0; i < rows; ++i) {
    y.push_back(static_cast<double>(i % classes));
    for (int64_t j = 0; j < columns; ++j)
      x[i * columns + j] += 0.7 * centers[i % classes * columns + j];
  }
  return {floats(x, {rows, columns}), integers(y, {rows})};
}

/// n samples with normal noise. Sample i belongs to center i % centers.size().
inline Tensor noisy_centers(const std::vector<std::vector<float>>& centers, int64_t n,
                            float deviation, uint64_t seed) {
  Random random(seed);
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i)
    for (const float center : centers[static_cast<size_t>(i) % centers.size()])
      values.push_back(center + deviation * random.normal());
  return Tensor::from(std::span<const float>(values), {n, static_cast<int64_t>(centers[0].size())},
                      Device::cpu());
}

/// scaled() of ml_cases.py: mean 0 and variance 1, computed in double.
inline Tensor scaled(const Tensor& x) {
  const std::vector<float> values = x.to_vector();
  const int64_t n = x.dim(0), columns = x.dim(1);
  std::vector<double> result(values.size());
  for (int64_t j = 0; j < columns; ++j) {
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) mean += values[i * columns + j] / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) squares += std::pow(values[i * columns + j] - mean, 2);
    const double deviation = std::sqrt(squares / static_cast<double>(n));
    for (int64_t i = 0; i < n; ++i)
      result[i * columns + j] =
          (values[i * columns + j] - mean) / (deviation < 1e-12 ? 1 : deviation);
  }
  return floats(result, x.shape());
}

/// The sets of make_ml_linear_cases.py: iris, digits, cancer, blobs or pairs.
inline MlSet labeled_set(const std::string& name) {
  if (name == "blobs") return blobs_set(120, 5, 3, 40);
  if (name == "pairs") return blobs_set(90, 4, 2, 50);
  MlSet set = ml_set(name);
  if (name != "iris") set.x = scaled(set.x);
  if (name == "digits") return {set.x.slice(0, 0, 600), set.y.slice(0, 0, 600)};
  return set;
}

/// The largest |difference|, by the larger of 1 and the largest expected number.
inline double difference(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  double largest = 0, scale = 1;
  for (size_t i = 0; i < got.size(); ++i) {
    REQUIRE(std::isfinite(expected[i]));
    scale = std::max(scale, std::abs(expected[i]));
    largest = std::max(largest, std::isnan(got[i]) ? 1e300 : std::abs(got[i] - expected[i]));
  }
  return largest / scale;
}
inline double difference(const Tensor& got, const std::vector<double>& expected) {
  const std::vector<float> values = got.to_vector();
  return difference(std::vector<double>(values.begin(), values.end()), expected);
}

/// Each row of `got` equals that of `expected`, or its negative, as axes do.
inline void check_rows_up_to_signs(const Tensor& got, const MlCase& expected, double absolute) {
  const std::vector<float> values = got.to_vector();
  REQUIRE(values.size() == expected.values.size());
  for (int64_t i = 0; i < expected.rows; ++i) {
    const float* row = values.data() + i * expected.columns;
    const double* wanted = expected.values.data() + i * expected.columns;
    double product = 0, largest = 0;
    for (int64_t j = 0; j < expected.columns; ++j) product += row[j] * wanted[j];
    for (int64_t j = 0; j < expected.columns; ++j)
      largest = std::max(largest, std::abs((product < 0 ? -row[j] : row[j]) - wanted[j]));
    INFO("row " << i);
    CHECK(largest <= absolute);
  }
}

}  // namespace kaiseki::test
