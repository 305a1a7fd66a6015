// SPDX-License-Identifier: MIT
// The score of splits for real targets: the squared sums over the weights, of both sides. Score
// minus the score of the node is the decrease of the sum of squared errors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ml/tree/tree_samples.h"

namespace kaiseki::ml {

/// The targets of the samples of a node.
class TargetNode {
 public:
  /// targets: [rows, outputs] around their mean, so that the sums of squares keep their digits.
  TargetNode(const double* targets, size_t outputs)
      : targets_(targets), outputs_(outputs), totals_(outputs) {}

  /// The rows of the samples are `rows[row]`, or the same if `rows` is empty.
  void begin(std::span<const TreeSample> samples, std::span<const uint32_t> rows = {}) {
    weighted_.resize(samples.size() * outputs_);
    counts_.resize(samples.size());
    totals_.assign(outputs_, 0);
    weight_ = 0;
    pure_ = true;
    const double* first = target(samples[0], rows);
    for (size_t i = 0; i < samples.size(); ++i) {
      const double* values = target(samples[i], rows);
      counts_[i] = samples[i].payload;
      weight_ += counts_[i];
      for (size_t o = 0; o < outputs_; ++o) {
        pure_ = pure_ && values[o] == first[o];
        weighted_[i * outputs_ + o] = counts_[i] * values[o];
        totals_[o] += weighted_[i * outputs_ + o];
      }
    }
  }
  /// Whether a split is useless: all targets are equal.
  bool pure() const { return pure_; }
  double weight() const { return weight_; }
  size_t width() const { return outputs_; }
  const std::vector<double>& totals() const { return totals_; }

  /// The number of the sample in the node.
  uint32_t payload(const TreeSample&, size_t i) const { return static_cast<uint32_t>(i); }
  double count(uint32_t payload) const { return counts_[payload]; }
  const double* weighted(uint32_t payload) const { return weighted_.data() + payload * outputs_; }

 private:
  const double* target(const TreeSample& sample, std::span<const uint32_t> rows) const {
    const size_t row = rows.empty() ? sample.row : rows[sample.row];
    return targets_ + row * outputs_;
  }

  const double* targets_;
  size_t outputs_;
  std::vector<double> totals_, weighted_;
  std::vector<double> counts_;
  double weight_ = 0;
  bool pure_ = true;
};

/// Moves samples from the right side to the left one.
class SquaredErrorScan {
 public:
  using Node = TargetNode;

  void begin(const TargetNode& node) {
    left_.assign(node.width(), 0);
    right_ = node.totals();
    left_weight_ = 0;
    right_weight_ = node.weight();
  }
  void add(const TargetNode& node, uint32_t payload) {
    move(node.count(payload), node.weighted(payload));
  }
  double score() const {
    double left = 0, right = 0;
    for (size_t o = 0; o < left_.size(); ++o) {
      left += left_[o] * left_[o];
      right += right_[o] * right_[o];
    }
    return left / left_weight_ + right / right_weight_;
  }
  /// A fast test without divisions. It may return true for a score that is a little smaller.
  bool may_exceed(double score) const {
    double left = 0, right = 0;
    for (size_t o = 0; o < left_.size(); ++o) {
      left += left_[o] * left_[o];
      right += right_[o] * right_[o];
    }
    return left * right_weight_ + right * left_weight_ >=
           kBelow * score * (left_weight_ * right_weight_);
  }
  static double node_score(const TargetNode& node) {
    double squares = 0;
    for (const double total : node.totals()) squares += total * total;
    return squares / node.weight();
  }
  /// The impurity is the mean over the outputs.
  static double unit(const TargetNode& node) { return static_cast<double>(node.width()); }

  /// Sums of samples by rank: the weight, then the weighted targets.
  void clear_bins(const TargetNode& node, size_t bins) {
    bins_.assign(bins * (node.width() + 1), 0);
  }
  void add_to_bin(const TargetNode& node, size_t bin, uint32_t payload) {
    double* sums = bins_.data() + bin * (node.width() + 1);
    sums[0] += node.count(payload);
    for (size_t o = 0; o < node.width(); ++o) sums[o + 1] += node.weighted(payload)[o];
  }
  void add_bin(const TargetNode& node, size_t bin) {
    const double* sums = bins_.data() + bin * (node.width() + 1);
    move(sums[0], sums + 1);
  }

 private:
  static constexpr double kBelow = 1 - 1e-12;

  void move(double weight, const double* sums) {
    left_weight_ += weight;
    right_weight_ -= weight;
    for (size_t o = 0; o < left_.size(); ++o) {
      left_[o] += sums[o];
      right_[o] -= sums[o];
    }
  }

  std::vector<double> left_, right_, bins_;
  double left_weight_ = 0, right_weight_ = 0;
};

}  // namespace kaiseki::ml
