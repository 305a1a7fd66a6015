// SPDX-License-Identifier: MIT
#include "ml/linear/classes.h"

#include <algorithm>
#include <cmath>

#include "matrix/ops/elementwise.h"
#include "matrix/ops/index.h"
#include "matrix/ops/reduce.h"
#include "ml/linear/linear_function.h"

namespace kaiseki::ml {

std::vector<double> weights_of_classes(const ClassWeights& weights, const LabelCodes& labels,
                                       std::string_view name) {
  std::vector<double> result(labels.classes.size(), 1);
  require(!weights.balanced || weights.values.empty(), name,
          "expected balanced class weights or weights by label, got both");
  if (weights.balanced) {
    std::vector<double> counts(result.size());
    for (int32_t code : labels.codes) ++counts[static_cast<size_t>(code)];
    const double n = static_cast<double>(labels.codes.size());
    for (size_t c = 0; c < result.size(); ++c)
      result[c] = n / (static_cast<double>(result.size()) * counts[c]);
  }
  for (const auto& entry : weights.values) {
    const auto found = std::lower_bound(labels.classes.begin(), labels.classes.end(), entry.first);
    require(found != labels.classes.end() && *found == entry.first, name,
            "expected class weights of known classes, got label ", entry.first);
    require(entry.second >= 0 && std::isfinite(entry.second), name,
            "expected class weights of 0 or more, got ", entry.second, " for label ", entry.first);
    result[static_cast<size_t>(found - labels.classes.begin())] = entry.second;
  }
  return result;
}

void check_classes(const std::vector<int32_t>& classes, std::string_view name) {
  require(classes.size() >= 2, name, "expected at least two classes, got ", classes.size());
}

std::vector<int32_t> classes_of_call(const Tensor& x, const std::vector<int32_t>& given,
                                     const LinearFunction& function,
                                     const std::vector<int32_t>& known, std::string_view name) {
  const bool first = !function.defined();
  require(!first || !given.empty(), name,
          "expected all classes in the first call of partial_fit(), got none");
  if (first)
    check_samples(x, name);
  else
    check_samples(x, function.features(), name);
  if (given.empty()) return known;
  std::vector<int32_t> classes = encode_labels(given).classes;
  check_classes(classes, name);
  require(first || classes == known, name,
          "expected the classes of the first call of partial_fit(), got others");
  return classes;
}

Tensor labels_from_scores(const Tensor& scores, const std::vector<int32_t>& classes) {
  const Tensor codes =
      scores.rank() == 2 ? argmax(scores, 1) : elementwise("i32(s > 0)", {{"s", scores}});
  return take(tensor_from(classes, scores.device()), codes, 0);
}

}  // namespace kaiseki::ml
