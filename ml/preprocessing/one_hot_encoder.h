// SPDX-License-Identifier: MIT
// Encodes categories as columns of 0 and 1.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

enum class DropCategory : uint8_t { none, first, if_binary };
enum class UnknownCategory : uint8_t { error, ignore };

struct OneHotEncoderOptions {
  DropCategory drop = DropCategory::none;  // the categories without a column
  /// `ignore`: an unknown category gives zeros, and inverse_transform() returns `unknown_value`.
  UnknownCategory handle_unknown = UnknownCategory::error;
  int32_t unknown_value = -1;
};

/// x is i32 [n, features], any integers. All throw ShapeError.
class OneHotEncoder {
 public:
  explicit OneHotEncoder(OneHotEncoderOptions options = {}) : options_(options) {}

  void fit(const Tensor& x);
  /// f32 [n, columns], on the device of x: the columns of the first feature's categories, and so
  /// on.
  Tensor transform(const Tensor& x) const;
  Tensor fit_transform(const Tensor& x);
  /// The categories i32 [n, features] of f32 [n, columns]. The largest column of a feature decides.
  /// Columns without a value above 0 stand for the dropped category, else for an unknown one.
  Tensor inverse_transform(const Tensor& x) const;

  /// The categories of each feature, ascending.
  const std::vector<std::vector<int32_t>>& categories() const { return categories_; }
  int64_t columns() const { return columns_; }

 private:
  bool drops(size_t feature) const;

  OneHotEncoderOptions options_;
  std::vector<std::vector<int32_t>> categories_;
  std::vector<int64_t> first_columns_;  // of each feature
  int64_t columns_ = 0;
};

}  // namespace kaiseki::ml
