// SPDX-License-Identifier: MIT
#include "ml/preprocessing/standard_scaler.h"

#include <cmath>

#include "matrix/ops/elementwise.h"
#include "ml/samples.h"

namespace kaiseki::ml {

void StandardScaler::fit(const Tensor& x) {
  check_samples(x, "StandardScaler");
  moments_ = column_moments(x);
}

void StandardScaler::partial_fit(const Tensor& x) {
  if (moments_.count == 0) return fit(x);
  check_samples(x, static_cast<int64_t>(moments_.mean.size()), "StandardScaler");
  moments_.merge(column_moments(x));
}

std::vector<double> StandardScaler::variance() const {
  std::vector<double> values;
  for (size_t j = 0; j < moments_.mean.size(); ++j) values.push_back(moments_.variance(j));
  return values;
}

std::vector<double> StandardScaler::offset() const {
  return options_.with_mean ? moments_.mean : std::vector<double>(moments_.mean.size());
}

std::vector<double> StandardScaler::scale() const {
  std::vector<double> values(moments_.mean.size(), 1);
  for (size_t j = 0; j < values.size() && options_.with_std; ++j)
    if (!moments_.is_constant(j)) values[j] = std::sqrt(moments_.variance(j));
  return values;
}

Tensor StandardScaler::apply(const Tensor& x, bool inverse, std::string_view name) const {
  check_fitted(moments_.count > 0, name);
  const auto features = static_cast<int64_t>(moments_.mean.size());
  check_samples(x, features, name);
  // The mean as a sum of two floats. Otherwise its rounding would shift features of small variance.
  std::vector<double> high(moments_.mean.size()), low(moments_.mean.size());
  for (size_t j = 0; j < high.size() && options_.with_mean; ++j) {
    high[j] = static_cast<float>(moments_.mean[j]);
    low[j] = moments_.mean[j] - high[j];
  }
  const Tensor h = tensor_from(high, {features}, x.device());
  const Tensor l = tensor_from(low, {features}, x.device());
  const Tensor s = tensor_from(scale(), {features}, x.device());
  return elementwise(inverse ? "x * s + l + h" : "((x - h) - l) / s",
                     {{"x", x}, {"h", h}, {"l", l}, {"s", s}});
}

Tensor StandardScaler::transform(const Tensor& x) const {
  return apply(x, false, "StandardScaler.transform");
}

Tensor StandardScaler::fit_transform(const Tensor& x) {
  fit(x);
  return transform(x);
}

Tensor StandardScaler::inverse_transform(const Tensor& x) const {
  return apply(x, true, "StandardScaler.inverse_transform");
}

}  // namespace kaiseki::ml
