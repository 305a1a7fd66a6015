// SPDX-License-Identifier: MIT
// The scores of splits for classes: Gini impurity and entropy. A split with a larger score is
// better. Score minus the score of the node is the decrease of weight * impurity.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ml/tree/tree_samples.h"

namespace kaiseki::ml {

/// The classes of the samples of a node.
class ClassNode {
 public:
  explicit ClassNode(std::vector<double> class_weights)
      : class_weights_(std::move(class_weights)), totals_(class_weights_.size()) {}

  void begin(std::span<const TreeSample> samples, std::span<const uint32_t> = {}) {
    totals_.assign(totals_.size(), 0);
    for (const TreeSample& sample : samples)
      totals_[ClassPayload::label(sample.payload)] += ClassPayload::count(sample.payload);
    weight_ = squares_ = 0;
    present_ = 0;
    for (size_t c = 0; c < totals_.size(); ++c) {
      present_ += totals_[c] > 0;
      totals_[c] *= class_weights_[c];
      weight_ += totals_[c];
      squares_ += totals_[c] * totals_[c];
    }
  }
  /// Whether a split is useless: all samples are of one class.
  bool pure() const { return present_ == 1; }
  double weight() const { return weight_; }
  double squares() const { return squares_; }  // the sum of the squared totals
  size_t width() const { return totals_.size(); }
  double total(size_t label) const { return totals_[label]; }
  double class_weight(size_t label) const { return class_weights_[label]; }
  const std::vector<double>& totals() const { return totals_; }

  uint32_t payload(const TreeSample& sample, size_t) const { return sample.payload; }

 private:
  std::vector<double> class_weights_, totals_;  // totals: weights by class
  double weight_ = 0, squares_ = 0;
  size_t present_ = 0;
};

/// The base of the scans of both criteria. A scan moves samples from the right side to the left
/// one.
template <class Derived>
class ClassScan {
 public:
  using Node = ClassNode;

  void add(const ClassNode& node, uint32_t payload) {
    self().move(node, ClassPayload::label(payload), ClassPayload::count(payload));
  }

  /// Sums of samples by rank.
  void clear_bins(const ClassNode& node, size_t bins) { bins_.assign(bins * node.width(), 0); }
  void add_to_bin(const ClassNode& node, size_t bin, uint32_t payload) {
    bins_[bin * node.width() + ClassPayload::label(payload)] += ClassPayload::count(payload);
  }
  void add_bin(const ClassNode& node, size_t bin) {
    const uint32_t* counts = bins_.data() + bin * node.width();
    for (uint32_t c = 0; c < node.width(); ++c)
      if (counts[c] > 0) self().move(node, c, counts[c]);
  }

 protected:
  Derived& self() { return static_cast<Derived&>(*this); }

  std::vector<double> left_;
  double left_weight_ = 0, right_weight_ = 0;

 private:
  std::vector<uint32_t> bins_;
};

/// Gini: the sum of squared class weights over the weight, of both sides.
class GiniScan : public ClassScan<GiniScan> {
 public:
  void begin(const ClassNode& node) {
    left_.assign(node.width(), 0);
    left_weight_ = left_squares_ = 0;
    right_weight_ = node.weight();
    right_squares_ = node.squares();
  }
  void move(const ClassNode& node, uint32_t label, uint32_t count) {
    const double weight = count * node.class_weight(label), left = left_[label];
    const double right = node.total(label) - left;
    left_squares_ += weight * (2 * left + weight);
    right_squares_ -= weight * (2 * right - weight);
    left_weight_ += weight;
    right_weight_ -= weight;
    left_[label] = left + weight;
  }
  double score() const { return left_squares_ / left_weight_ + right_squares_ / right_weight_; }
  /// A fast test without divisions. It may return true for a score that is a little smaller.
  bool may_exceed(double score) const {
    return left_squares_ * right_weight_ + right_squares_ * left_weight_ >=
           kBelow * score * (left_weight_ * right_weight_);
  }
  static double node_score(const ClassNode& node) { return node.squares() / node.weight(); }
  static double unit(const ClassNode&) { return 1; }

 private:
  static constexpr double kBelow = 1 - 1e-12;

  double left_squares_ = 0, right_squares_ = 0;
};

/// Entropy, with f(w) = w log w. It is the sum of f over the classes minus f of the weight, of both
/// sides. f is rounded to a multiple of 2^-24. So the sums are exact up to 2^29 (30 million
/// samples), and equally good splits have equal scores.
class EntropyScan : public ClassScan<EntropyScan> {
 public:
  void begin(const ClassNode& node) {
    left_.assign(node.width(), 0);
    left_weight_ = left_sum_ = right_sum_ = 0;
    right_weight_ = node.weight();
    for (const double total : node.totals()) right_sum_ += times_log(total);
  }
  void move(const ClassNode& node, uint32_t label, uint32_t count) {
    const double weight = count * node.class_weight(label), left = left_[label];
    const double right = node.total(label) - left;
    left_sum_ += times_log(left + weight) - times_log(left);
    right_sum_ += times_log(right - weight) - times_log(right);
    left_weight_ += weight;
    right_weight_ -= weight;
    left_[label] = left + weight;
  }
  double score() const {
    return left_sum_ - times_log(left_weight_) + right_sum_ - times_log(right_weight_);
  }
  bool may_exceed(double) const { return true; }
  static double node_score(const ClassNode& node) {
    double sum = -times_log(node.weight());
    for (const double total : node.totals()) sum += times_log(total);
    return sum;
  }
  /// Impurity is in bits, scores are in nats.
  static double unit(const ClassNode&) { return std::log(2.0); }

 private:
  static double times_log(double weight) {
    static const std::vector<double> table = [] {
      std::vector<double> values(4096);
      for (size_t i = 1; i < values.size(); ++i)
        values[i] = rounded(static_cast<double>(i) * std::log(static_cast<double>(i)));
      return values;
    }();
    if (weight <= 0) return 0;  // rounding may leave less than nothing
    const auto whole = static_cast<uint32_t>(std::min(weight, 4096.0));
    if (whole < table.size() && whole == weight) return table[whole];
    return rounded(weight * std::log(weight));
  }
  /// Above 2^27, the last bit of a sum with 3 * 2^27 is 2^-24 or more.
  static double rounded(double value) {
    constexpr double kLarge = 3.0 * (1 << 27);
    return (value + kLarge) - kLarge;
  }

  double left_sum_ = 0, right_sum_ = 0;
};

}  // namespace kaiseki::ml
