// SPDX-License-Identifier: MIT
#include "ml/preprocessing/one_hot_encoder.h"

#include <algorithm>

#include "matrix/ops/check.h"
#include "matrix/threads.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr int64_t kGrain = 4096;  // rows

void check_categories(const Tensor& x, std::string_view name) {
  check_tensor(x, "x", name, DType::i32);
  require(x.rank() == 2 && x.size() > 0, name,
          "expected x of shape [n, features] with at least one sample and one feature, got ",
          x.shape());
}

}  // namespace

bool OneHotEncoder::drops(size_t feature) const {
  if (options_.drop == DropCategory::if_binary) return categories_[feature].size() == 2;
  return options_.drop == DropCategory::first;
}

void OneHotEncoder::fit(const Tensor& x) {
  check_categories(x, "OneHotEncoder");
  const Tensor host = on_host(x);
  const int32_t* values = host.data<int32_t>();
  const int64_t n = x.dim(0), features = x.dim(1);
  categories_.assign(static_cast<size_t>(features), {});
  parallel_for(features, 1, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      std::vector<int32_t> column(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) column[static_cast<size_t>(i)] = values[i * features + j];
      categories_[static_cast<size_t>(j)] = encode_labels(column).classes;
    }
  });
  first_columns_.clear();
  columns_ = 0;
  for (size_t j = 0; j < categories_.size(); ++j) {
    first_columns_.push_back(columns_);
    columns_ += static_cast<int64_t>(categories_[j].size()) - drops(j);
  }
}

Tensor OneHotEncoder::transform(const Tensor& x) const {
  const std::string_view name = "OneHotEncoder.transform";
  check_fitted(!categories_.empty(), name);
  check_categories(x, name);
  const auto features = static_cast<int64_t>(categories_.size());
  require(x.dim(1) == features, name, "expected x of shape [n, ", features, "], got ", x.shape());
  const Tensor host = on_host(x);
  const int32_t* values = host.data<int32_t>();
  Tensor result({x.dim(0), columns_}, DType::f32, Device::cpu());
  float* to = result.overwrite<float>();
  std::fill_n(to, result.size(), 0.0f);
  parallel_for(x.dim(0), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < features; ++j) {
        const auto feature = static_cast<size_t>(j);
        const std::vector<int32_t>& known = categories_[feature];
        const int32_t value = values[i * features + j];
        const auto found = std::lower_bound(known.begin(), known.end(), value);
        if (found == known.end() || *found != value) {
          require(options_.handle_unknown == UnknownCategory::ignore, name,
                  "expected a category that fit() has seen, got ", value, " for sample ", i,
                  " and feature ", j);
          continue;
        }
        const int64_t code = (found - known.begin()) - drops(feature);
        if (code >= 0) to[i * columns_ + first_columns_[feature] + code] = 1;
      }
  });
  return result.to(x.device());
}

Tensor OneHotEncoder::fit_transform(const Tensor& x) {
  fit(x);
  return transform(x);
}

Tensor OneHotEncoder::inverse_transform(const Tensor& x) const {
  const std::string_view name = "OneHotEncoder.inverse_transform";
  check_fitted(!categories_.empty(), name);
  check_tensor(x, "x", name);
  require(x.rank() == 2 && x.dim(1) == columns_, name, "expected x of shape [n, ", columns_,
          "], got ", x.shape());
  const Tensor host = on_host(x);
  const auto features = static_cast<int64_t>(categories_.size());
  Tensor result({x.dim(0), features}, DType::i32, Device::cpu());
  int32_t* to = result.overwrite<int32_t>();
  const float* values = host.data<float>();
  for (int64_t i = 0; i < x.dim(0); ++i)
    for (int64_t j = 0; j < features; ++j) {
      const auto feature = static_cast<size_t>(j);
      const std::vector<int32_t>& known = categories_[feature];
      const int64_t dropped = drops(feature);
      const int64_t width = static_cast<int64_t>(known.size()) - dropped;
      const float* row = values + i * columns_ + first_columns_[feature];
      const float* largest = std::max_element(row, row + width);
      int32_t& category = to[i * features + j];
      if (width > 0 && *largest > 0) {
        category = known[static_cast<size_t>(largest - row + dropped)];
      } else if (dropped) {
        category = known.front();
      } else {
        require(options_.handle_unknown == UnknownCategory::ignore, name,
                "expected a column above 0 for feature ", j, ", got none in sample ", i);
        category = options_.unknown_value;
      }
    }
  return result.to(x.device());
}

}  // namespace kaiseki::ml
