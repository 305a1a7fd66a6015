// SPDX-License-Identifier: MIT
#include "ml/tree/tree.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "matrix/threads.h"
#include "ml/samples.h"

namespace kaiseki::ml {

int64_t Tree::depth() const {
  std::vector<int64_t> depths(nodes.size());
  int64_t deepest = 0;
  // A parent precedes its children.
  for (size_t node = 0; node < nodes.size(); ++node) {
    deepest = std::max(deepest, depths[node]);
    if (nodes[node].feature < 0) continue;
    depths[node + 1] = depths[static_cast<size_t>(nodes[node].next)] = depths[node] + 1;
  }
  return deepest;
}

int64_t Tree::leaf_count() const {
  return std::count_if(nodes.begin(), nodes.end(), [](const TreeNode& n) { return n.feature < 0; });
}

void Tree::find_leaves(const float* x, int64_t rows, int64_t features, int32_t* leaves) const {
  // Several rows together, because each step of a row waits for memory.
  constexpr int64_t kTogether = 8;
  for (int64_t begin = 0; begin < rows; begin += kTogether) {
    const int64_t count = std::min(kTogether, rows - begin);
    int32_t at[kTogether] = {};
    for (bool moved = true; moved;) {
      moved = false;
      for (int64_t i = 0; i < count; ++i) {
        const TreeNode& node = nodes[at[i]];
        if (node.feature < 0) continue;
        const bool left = x[(begin + i) * features + node.feature] <= node.threshold;
        at[i] = left ? at[i] + 1 : node.next;
        moved = true;
      }
    }
    std::copy_n(at, count, leaves + begin);
  }
}

std::vector<int32_t> find_leaves(const Tree& tree, const Tensor& x) {
  constexpr int64_t kRows = 1024;
  std::vector<int32_t> leaves(static_cast<size_t>(x.dim(0)));
  const float* values = x.data<float>();
  const int64_t features = x.dim(1);
  parallel_for(x.dim(0), kRows, [&](int64_t begin, int64_t end) {
    tree.find_leaves(values + begin * features, end - begin, features, leaves.data() + begin);
  });
  return leaves;
}

Tensor importances(std::span<const Tree> trees) {
  std::vector<double> result(trees[0].importance.size());
  const auto add_parts = [&](const std::vector<double>& values) {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    for (size_t j = 0; j < result.size() && sum > 0; ++j) result[j] += values[j] / sum;
  };
  for (const Tree& tree : trees) add_parts(tree.importance);
  const std::vector<double> sums = std::exchange(result, std::vector<double>(result.size()));
  add_parts(sums);
  return tensor_from(result, {static_cast<int64_t>(result.size())}, default_device());
}

}  // namespace kaiseki::ml
