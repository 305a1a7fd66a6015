// SPDX-License-Identifier: MIT
#include "ml/preprocessing/min_max_scaler.h"

#include <algorithm>

#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "ml/samples.h"

namespace kaiseki::ml {

MinMaxScaler::MinMaxScaler(MinMaxScalerOptions options) : options_(options) {
  require(options.low < options.high, "MinMaxScaler", "expected low < high, got ", options.low,
          " and ", options.high);
}

void MinMaxScaler::fit(const Tensor& x) {
  check_samples(x, "MinMaxScaler");
  count_ = 0;
  min_.clear();
  max_.clear();
  partial_fit(x);
}

void MinMaxScaler::partial_fit(const Tensor& x) {
  if (count_ == 0)
    check_samples(x, "MinMaxScaler");
  else
    check_samples(x, static_cast<int64_t>(min_.size()), "MinMaxScaler");
  const std::vector<float> low = min(x, {0}).to_vector(), high = max(x, {0}).to_vector();
  if (count_ == 0) {
    min_.assign(low.begin(), low.end());
    max_.assign(high.begin(), high.end());
  }
  for (size_t j = 0; j < low.size(); ++j) {
    min_[j] = std::min<double>(min_[j], low[j]);
    max_[j] = std::max<double>(max_[j], high[j]);
  }
  count_ += x.dim(0);
}

std::vector<double> MinMaxScaler::scale() const {
  std::vector<double> values;
  for (size_t j = 0; j < min_.size(); ++j) {
    const double range = max_[j] - min_[j];
    values.push_back((options_.high - options_.low) / (range > 0 ? range : 1));
  }
  return values;
}

Tensor MinMaxScaler::apply(const Tensor& x, std::string_view expression,
                           std::string_view name) const {
  check_fitted(count_ > 0, name);
  const auto features = static_cast<int64_t>(min_.size());
  check_samples(x, features, name);
  return elementwise(expression, {{"x", x},
                                  {"m", tensor_from(min_, {features}, x.device())},
                                  {"s", tensor_from(scale(), {features}, x.device())},
                                  {"low", static_cast<float>(options_.low)},
                                  {"high", static_cast<float>(options_.high)}});
}

Tensor MinMaxScaler::transform(const Tensor& x) const {
  return apply(x, options_.clip ? "clamp((x - m) * s + low, low, high)" : "(x - m) * s + low",
               "MinMaxScaler.transform");
}

Tensor MinMaxScaler::fit_transform(const Tensor& x) {
  fit(x);
  return transform(x);
}

Tensor MinMaxScaler::inverse_transform(const Tensor& x) const {
  return apply(x, "(x - low) / s + m", "MinMaxScaler.inverse_transform");
}

}  // namespace kaiseki::ml
