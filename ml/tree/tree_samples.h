// SPDX-License-Identifier: MIT
// The samples and targets from which trees are grown.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"
#include "ml/linear/classes.h"
#include "ml/samples.h"

namespace kaiseki::ml {

/// A sample in the list that growing a tree partitions.
struct TreeSample {
  uint32_t row;
  uint32_t payload;  // a ClassPayload, or how often the sample occurs
};

/// The class of a sample, and how often it occurs.
struct ClassPayload {
  static constexpr uint32_t kMost = 0xffff;
  static uint32_t pack(uint32_t label, uint32_t count) { return label << 16 | count; }
  static uint32_t label(uint32_t payload) { return payload >> 16; }
  static uint32_t count(uint32_t payload) { return payload & kMost; }
};

/// Classes as numbers, and the weight of each. At most 65,536 classes.
struct ClassTargets {
  LabelCodes labels;
  std::vector<double> weights;

  ClassTargets(const Tensor& y, int64_t samples, const ClassWeights& class_weight,
               std::string_view name);
  /// The samples with a count and a weight above 0. Without counts, each occurs once.
  std::vector<TreeSample> samples(const std::vector<uint16_t>& counts = {}) const;
};

/// Targets around their mean, so that sums of squares keep their digits.
struct RealTargets {
  std::vector<double> centered;  // [n, outputs]
  std::vector<double> means;     // [outputs]
  bool one_output;               // y has shape [n]

  RealTargets(const Tensor& y, const Tensor& x, std::string_view name);
  std::vector<TreeSample> samples(const std::vector<uint16_t>& counts = {}) const;
};

}  // namespace kaiseki::ml
