// SPDX-License-Identifier: MIT
// Draws the features that a node considers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "ml/tree/tree_random.h"

namespace kaiseki::ml {

/// A feature that is constant in a node is constant below it. Such features are remembered and not
/// searched again. They are drawn, as in scikit-learn, but then only their number matters.
class FeatureSampler {
 public:
  FeatureSampler(int64_t features, uint64_t seed, uint64_t stream)
      : order_(static_cast<size_t>(features)), random_(seed, stream) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  /// Begins a node with this number of known constant features, which its parent had in the end.
  void begin(size_t constants) {
    constants_ = constants;
    undrawn_constants_ = constants;
    end_ = order_.size();
  }
  /// The number of known constant features.
  size_t constants() const { return constants_; }
  /// Whether a feature that is not known as constant has not been drawn.
  bool has_more() const { return end_ > constants_; }

  /// These return the features that are to be searched.
  std::span<const int32_t> draw_all() { return batch(end_ - constants_); }
  std::span<const int32_t> draw(size_t count) {
    size_t searched = 0;
    for (; count > 0 && end_ - searched > constants_; --count) {
      const size_t undrawn = undrawn_constants_ + end_ - searched - constants_;
      const size_t drawn = random_.below(static_cast<uint32_t>(undrawn));
      if (drawn < undrawn_constants_)
        --undrawn_constants_;
      else
        std::swap(order_[end_ - ++searched], order_[constants_ + drawn - undrawn_constants_]);
    }
    return batch(searched);
  }

  /// is_constant(i) tells whether feature i of the last batch is constant.
  template <class IsConstant>
  void remember_constants(const IsConstant& is_constant) {
    const size_t before = constants_;
    for (size_t i = 0; i < batch_; ++i)
      if (is_constant(i)) std::swap(order_[end_ + i], order_[constants_++]);
    // The features that have not been drawn have come to the end of the list.
    if (constants_ - before == batch_) end_ = order_.size();
  }

 private:
  std::span<const int32_t> batch(size_t count) {
    batch_ = count;
    end_ -= count;
    return std::span(order_).subspan(end_, count);
  }

  std::vector<int32_t> order_;  // known constants, then undrawn features, then drawn ones
  TreeRandom random_;
  size_t constants_ = 0, undrawn_constants_ = 0;
  size_t end_ = 0;    // of the undrawn features
  size_t batch_ = 0;  // the length of the last batch, which begins at end_
};

}  // namespace kaiseki::ml
