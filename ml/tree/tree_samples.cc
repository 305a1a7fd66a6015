// SPDX-License-Identifier: MIT
#include "ml/tree/tree_samples.h"

namespace kaiseki::ml {

ClassTargets::ClassTargets(const Tensor& y, int64_t samples, const ClassWeights& class_weight,
                           std::string_view name)
    : labels(encode_labels(read_labels(y, samples, name))),
      weights(weights_of_classes(class_weight, labels, name)) {
  require(labels.classes.size() <= ClassPayload::kMost + 1, name, "expected at most ",
          ClassPayload::kMost + 1, " classes, got ", labels.classes.size());
  double sum = 0;
  for (const double weight : weights) sum += weight;
  require(sum > 0, name, "expected a class with a weight above 0");
}

std::vector<TreeSample> ClassTargets::samples(const std::vector<uint16_t>& counts) const {
  std::vector<TreeSample> result;
  result.reserve(labels.codes.size());
  for (size_t i = 0; i < labels.codes.size(); ++i) {
    const auto label = static_cast<uint32_t>(labels.codes[i]);
    const uint32_t count = counts.empty() ? 1 : counts[i];
    if (count > 0 && weights[label] > 0)
      result.push_back({static_cast<uint32_t>(i), ClassPayload::pack(label, count)});
  }
  return result;
}

RealTargets::RealTargets(const Tensor& y, const Tensor& x, std::string_view name) {
  check_targets(y, x, name);
  const std::vector<float> values = y.to_vector<float>();
  const auto outputs = static_cast<size_t>(y.rank() == 1 ? 1 : y.dim(1));
  one_output = y.rank() == 1;
  means.assign(outputs, 0);
  for (size_t i = 0; i < values.size(); ++i) means[i % outputs] += static_cast<double>(values[i]);
  for (double& mean : means) mean /= static_cast<double>(y.dim(0));
  centered.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    centered[i] = static_cast<double>(values[i]) - means[i % outputs];
}

std::vector<TreeSample> RealTargets::samples(const std::vector<uint16_t>& counts) const {
  std::vector<TreeSample> result;
  const size_t n = centered.size() / means.size();
  result.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    const uint32_t count = counts.empty() ? 1 : counts[i];
    if (count > 0) result.push_back({static_cast<uint32_t>(i), count});
  }
  return result;
}

}  // namespace kaiseki::ml
