// SPDX-License-Identifier: MIT
#include "ml/model/tree_state.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace kaiseki::ml {
namespace {

/// The nodes and values of all trees, one tree after the other.
struct FlatTrees {
  std::vector<int32_t> node_counts, row_counts;  // of each tree
  std::vector<int32_t> features, next;           // of each node
  std::vector<float> thresholds, values;
  std::vector<double> importance;  // [trees, features]
  int64_t outputs = 0, tree_features = 0;

  void archive(Archive& a) {
    a("node_counts", node_counts);
    a("row_counts", row_counts);
    a("node_features", features);
    a("node_next", next);
    a("node_thresholds", thresholds);
    a("values", values);
    a("importance", importance);
    a("outputs", outputs);
    a("tree_features", tree_features);
  }
};

FlatTrees flattened(std::span<const Tree> trees) {
  FlatTrees flat;
  for (const Tree& tree : trees) {
    flat.outputs = tree.outputs;
    flat.tree_features = static_cast<int64_t>(tree.importance.size());
    flat.node_counts.push_back(static_cast<int32_t>(tree.nodes.size()));
    flat.row_counts.push_back(
        static_cast<int32_t>(static_cast<int64_t>(tree.values.size()) / tree.outputs));
    for (const TreeNode& node : tree.nodes) {
      flat.features.push_back(node.feature);
      flat.next.push_back(node.next);
      flat.thresholds.push_back(node.threshold);
    }
    flat.values.insert(flat.values.end(), tree.values.begin(), tree.values.end());
    flat.importance.insert(flat.importance.end(), tree.importance.begin(), tree.importance.end());
  }
  return flat;
}

/// Cuts the next `count` elements.
template <class T>
std::vector<T> cut(const Archive& archive, const std::vector<T>& all, size_t& at, int64_t count,
                   const char* name) {
  if (count < 0 || static_cast<size_t>(count) > all.size() - at)
    archive.fail(name, "expected more elements");
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
  at += static_cast<size_t>(count);
  return {begin, begin + count};
}

/// A way from the root visits nodes in ascending order, so it ends.
bool leads_to_leaves(const Tree& tree, int64_t features, int64_t rows) {
  const auto count = static_cast<int64_t>(tree.nodes.size());
  for (int64_t i = 0; i < count; ++i) {
    const TreeNode& node = tree.nodes[static_cast<size_t>(i)];
    const bool leaf = tree.is_leaf(i);
    if (leaf && (node.next < 0 || node.next >= rows)) return false;
    if (!leaf && (node.feature >= features || node.next <= i + 1 || node.next >= count))
      return false;
  }
  return count > 0;
}

}  // namespace

void archive_trees(Archive& archive, std::vector<Tree>& trees, int64_t count,
                   std::optional<int64_t> outputs) {
  FlatTrees flat;
  if (!archive.reads()) flat = flattened(trees);
  flat.archive(archive);
  if (!archive.reads()) return;
  if (flat.outputs < 1 || (outputs && flat.outputs != *outputs))
    archive.fail("outputs", text_from("expected ", outputs ? std::to_string(*outputs) : "1 or more",
                                      ", got ", flat.outputs));
  if (static_cast<int64_t>(flat.node_counts.size()) != count ||
      flat.row_counts.size() != flat.node_counts.size())
    archive.fail("node_counts",
                 text_from("expected ", count, " trees, got ", flat.node_counts.size()));
  if (flat.next.size() != flat.features.size() || flat.thresholds.size() != flat.features.size())
    archive.fail("node_next", "expected an element for each node");
  trees.assign(flat.node_counts.size(), {});
  size_t node = 0, value = 0, feature = 0;
  for (size_t t = 0; t < trees.size(); ++t) {
    Tree tree;
    tree.outputs = flat.outputs;
    const size_t first = node;
    const auto features = cut(archive, flat.features, node, flat.node_counts[t], "node_counts");
    for (size_t i = 0; i < features.size(); ++i)
      tree.nodes.push_back({features[i], flat.thresholds[first + i], flat.next[first + i]});
    const int64_t rows = flat.row_counts[t];
    // Their product must not overflow.
    if (rows < 1 || flat.outputs > static_cast<int64_t>(flat.values.size()) / rows)
      archive.fail("row_counts", "expected fewer");
    tree.values = cut(archive, flat.values, value, rows * flat.outputs, "values");
    tree.importance = cut(archive, flat.importance, feature, flat.tree_features, "importance");
    if (!leads_to_leaves(tree, flat.tree_features, rows))
      archive.fail("node_next", "expected nodes that lead to leaves");
    trees[t] = std::move(tree);
  }
}

}  // namespace kaiseki::ml
