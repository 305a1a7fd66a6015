// SPDX-License-Identifier: MIT
#include "ml/samples.h"

#include <algorithm>
#include <cmath>

#include "matrix/ops/check.h"
#include "matrix/ops/reduce.h"

namespace kaiseki::ml {

void check_finite(const Tensor& x, std::string_view what, std::string_view name) {
  // A NaN is the result of both reductions, so no copy of x is necessary.
  const bool finite = std::isfinite(max(x).item()) && std::isfinite(min(x).item());
  require(finite, name, "expected finite elements in ", what, ", got NaN or infinity");
}

void check_samples(const Tensor& x, std::string_view name) {
  check_tensor(x, "x", name);
  require(x.rank() == 2, name, "expected x of shape [n, features], got ", x.shape());
  require(x.dim(0) > 0 && x.dim(1) > 0, name,
          "expected at least one sample and one feature, got x of shape ", x.shape());
  check_finite(x, "x", name);
}

void check_samples(const Tensor& x, int64_t features, std::string_view name) {
  check_tensor(x, "x", name);
  require(x.rank() == 2 && x.dim(1) == features, name, "expected x of shape [n, ", features,
          "], got ", x.shape());
  check_samples(x, name);
}

void check_targets(const Tensor& y, const Tensor& x, std::string_view name) {
  check_tensor(y, "y", name);
  require((y.rank() == 1 || y.rank() == 2) && y.dim(0) == x.dim(0) && y.size() > 0, name,
          "expected y of shape [", x.dim(0), "] or [", x.dim(0), ", outputs], got ", y.shape());
  check_same_device(x, y, name);
  check_finite(y, "y", name);
}

std::vector<int32_t> read_labels(const Tensor& y, int64_t samples, std::string_view name) {
  check_tensor(y, "labels", name, DType::i32);
  require(y.rank() == 1 && y.dim(0) == samples, name, "expected labels of shape [", samples,
          "], got ", y.shape());
  return y.to_vector<int32_t>();
}

LabelCodes encode_labels(const std::vector<int32_t>& labels) {
  LabelCodes result;
  if (labels.empty()) return result;
  const auto ends = std::minmax_element(labels.begin(), labels.end());
  const int64_t low = *ends.first, width = *ends.second - low + 1;
  if (width <= static_cast<int64_t>(2 * labels.size() + 1024)) {
    // A table of the labels is faster than sorting.
    std::vector<int32_t> codes(static_cast<size_t>(width), -1);
    for (int32_t label : labels) codes[static_cast<size_t>(label - low)] = 0;
    for (int64_t i = 0; i < width; ++i)
      if (codes[static_cast<size_t>(i)] == 0) {
        codes[static_cast<size_t>(i)] = static_cast<int32_t>(result.classes.size());
        result.classes.push_back(static_cast<int32_t>(low + i));
      }
    for (int32_t label : labels) result.codes.push_back(codes[static_cast<size_t>(label - low)]);
    return result;
  }
  result.classes = labels;
  std::sort(result.classes.begin(), result.classes.end());
  result.classes.erase(std::unique(result.classes.begin(), result.classes.end()),
                       result.classes.end());
  result.codes = encode_labels(labels, result.classes, "labels");
  return result;
}

std::vector<int32_t> encode_labels(const std::vector<int32_t>& labels,
                                   const std::vector<int32_t>& classes, std::string_view name) {
  std::vector<int32_t> codes(labels.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto found = std::lower_bound(classes.begin(), classes.end(), labels[i]);
    require(found != classes.end() && *found == labels[i], name,
            "expected a label among the known classes, got ", labels[i], " for sample ", i);
    codes[i] = static_cast<int32_t>(found - classes.begin());
  }
  return codes;
}

Tensor decode_labels(const std::vector<int32_t>& codes, const std::vector<int32_t>& classes,
                     Device device) {
  std::vector<int32_t> labels(codes.size());
  for (size_t i = 0; i < codes.size(); ++i) labels[i] = classes[static_cast<size_t>(codes[i])];
  return tensor_from(labels, device);
}

Tensor tensor_from(const std::vector<double>& values, const Shape& shape, Device device) {
  const std::vector<float> narrow(values.begin(), values.end());
  return Tensor::from(std::span<const float>(narrow), shape, device);
}

Tensor tensor_from(const std::vector<int32_t>& values, Device device) {
  return Tensor::from(std::span<const int32_t>(values), {static_cast<int64_t>(values.size())},
                      device);
}

}  // namespace kaiseki::ml
