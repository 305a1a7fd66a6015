// SPDX-License-Identifier: MIT
// A binary decision tree as a flat array of nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// Nodes are in the order of scikit-learn: each one, then its left subtree, then its right subtree.
struct TreeNode {
  int32_t feature = -1;  // -1: a leaf
  float threshold = 0;   // a sample with a value up to this goes to the left child, the next node
  int32_t next = 0;      // the right child, or the row of the leaf in the values
};

class Tree {
 public:
  std::vector<TreeNode> nodes;
  int64_t outputs = 1;             // classes, or outputs of a regressor
  std::vector<float> values;       // [rows, outputs]: leaves with the same values may share a row
  std::vector<double> importance;  // by feature: the decrease of weight * impurity of its splits

  int64_t left(int64_t node) const { return node + 1; }
  int64_t right(int64_t node) const { return nodes[node].next; }
  bool is_leaf(int64_t node) const { return nodes[node].feature < 0; }
  /// The values of a leaf.
  const float* value(int64_t leaf) const { return values.data() + nodes[leaf].next * outputs; }

  /// The number of splits on the longest way to a leaf.
  int64_t depth() const;
  int64_t leaf_count() const;
  /// Writes the leaf of each row of x [rows, features].
  void find_leaves(const float* x, int64_t rows, int64_t features, int32_t* leaves) const;
};

/// The leaf of each row of x, f32 [rows, features] on the CPU, contiguous.
std::vector<int32_t> find_leaves(const Tree& tree, const Tensor& x);

/// f32 [features]: the parts of the features in the decrease of impurity, as the mean over the
/// trees. Their sum is 1, or 0 if no tree has a split that decreases the impurity.
Tensor importances(std::span<const Tree> trees);

}  // namespace kaiseki::ml
