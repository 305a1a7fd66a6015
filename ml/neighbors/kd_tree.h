// SPDX-License-Identifier: MIT
// A k-d tree (Bentley, 1975): each node splits its samples at the median of the feature with the
// largest range.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ml/neighbors/found.h"

namespace kaiseki::ml {

class KdTree {
 public:
  /// samples: [count, features], which the tree copies. leaf_size: samples of a leaf at most.
  KdTree(const float* samples, int64_t count, int64_t features, int64_t leaf_size);

  /// The `most` nearest samples, sorted. The sample `except` is skipped.
  std::vector<FoundNeighbor> nearest(const float* query, int64_t most,
                                     std::optional<int32_t> except) const;
  /// All samples with a squared distance of `squared` or less, sorted.
  std::vector<FoundNeighbor> within(const float* query, float squared,
                                    std::optional<int32_t> except) const;

 private:
  struct KdNode {
    int64_t begin, end;
    bool leaf = true;
    int64_t left = 0, right = 0;
    int64_t axis = 0;
    float split = 0;
  };
  template <class Visitor>
  void visit(int64_t node, const float* query, float distance, std::vector<float>& offsets,
             Visitor& visitor) const;
  void build(int64_t node, const float* samples, int64_t leaf_size);

  int64_t features_;
  std::vector<KdNode> nodes_;
  std::vector<int32_t> order_;  // sample numbers, in the order of leaves
  std::vector<float> values_;   // samples in that order
};

}  // namespace kaiseki::ml
