// SPDX-License-Identifier: MIT
#include "ml/ensemble/forest.h"

#include <algorithm>
#include <atomic>

#include "matrix/threads.h"
#include "ml/progress.h"
#include "ml/samples.h"
#include "ml/tree/tree_random.h"
#include "ml/tree/tree_samples.h"

namespace kaiseki::ml {
namespace {

// The features of trees use the streams from 0.
constexpr uint64_t kBootstrapStreams = uint64_t{1} << 32;
constexpr int64_t kRows = 256;

/// Calls add(leaf of the row, row) for the rows begin..end of x in ascending order.
template <class Add>
void visit_leaves(const Tree& tree, const Tensor& x, int64_t begin, int64_t end,
                  std::vector<int32_t>& leaves, const Add& add) {
  const int64_t features = x.dim(1);
  leaves.resize(static_cast<size_t>(end - begin));
  tree.find_leaves(x.data<float>() + begin * features, end - begin, features, leaves.data());
  for (int64_t i = begin; i < end; ++i) add(leaves[static_cast<size_t>(i - begin)], i);
}

void add_values(const Tree& tree, int64_t leaf, double* to) {
  const float* values = tree.value(leaf);
  for (int64_t o = 0; o < tree.outputs; ++o) to[o] += static_cast<double>(values[o]);
}

}  // namespace

std::vector<uint16_t> bootstrap_counts(int64_t n, uint64_t seed, uint64_t tree) {
  std::vector<uint16_t> counts(static_cast<size_t>(n));
  TreeRandom random(seed, kBootstrapStreams + tree);
  for (int64_t i = 0; i < n; ++i) {
    uint16_t& count = counts[random.below(static_cast<uint32_t>(n))];
    if (count < ClassPayload::kMost) ++count;
  }
  return counts;
}

std::vector<Tree> grow_forest(int64_t count, const std::function<Tree(uint64_t tree)>& grow) {
  std::vector<Tree> trees(static_cast<size_t>(count));
  std::atomic<int64_t> grown = 0;
  report_progress("trees", 0, count);
  parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t tree = begin; tree < end; ++tree) {
      report_progress("trees", grown, count);
      trees[static_cast<size_t>(tree)] = grow(static_cast<uint64_t>(tree));
      ++grown;
    }
  });
  return trees;
}

std::vector<double> mean_of_trees(std::span<const Tree> trees, const Tensor& x) {
  const int64_t outputs = trees[0].outputs;
  std::vector<double> means(static_cast<size_t>(x.dim(0) * outputs));
  parallel_for(x.dim(0), kRows, [&](int64_t begin, int64_t end) {
    std::vector<int32_t> leaves;
    for (const Tree& tree : trees)
      visit_leaves(tree, x, begin, end, leaves, [&](int64_t leaf, int64_t row) {
        add_values(tree, leaf, means.data() + row * outputs);
      });
    for (int64_t i = begin * outputs; i < end * outputs; ++i)
      means[i] /= static_cast<double>(trees.size());
  });
  return means;
}

OutOfBag out_of_bag(std::span<const Tree> trees, const Tensor& x, uint64_t seed) {
  const int64_t n = x.dim(0), outputs = trees[0].outputs;
  std::vector<double> sums(static_cast<size_t>(n * outputs));
  std::vector<int32_t> used(static_cast<size_t>(n));
  for (size_t t = 0; t < trees.size(); ++t) {
    const std::vector<uint16_t> counts = bootstrap_counts(n, seed, t);
    parallel_for(n, kRows, [&](int64_t begin, int64_t end) {
      std::vector<int32_t> leaves;
      visit_leaves(trees[t], x, begin, end, leaves, [&](int64_t leaf, int64_t row) {
        if (counts[row] > 0) return;
        add_values(trees[t], leaf, sums.data() + row * outputs);
        ++used[row];
      });
    });
  }
  OutOfBag result;
  for (int64_t i = 0; i < n; ++i) {
    if (used[i] == 0) continue;
    result.rows.push_back(i);
    for (int64_t o = 0; o < outputs; ++o) result.means.push_back(sums[i * outputs + o] / used[i]);
  }
  return result;
}

Tensor leaves_of_trees(std::span<const Tree> trees, const Tensor& x) {
  const auto count = static_cast<int64_t>(trees.size());
  std::vector<int32_t> result(static_cast<size_t>(x.dim(0) * count));
  parallel_for(x.dim(0), kRows, [&](int64_t begin, int64_t end) {
    std::vector<int32_t> leaves;
    for (int64_t t = 0; t < count; ++t)
      visit_leaves(
          trees[static_cast<size_t>(t)], x, begin, end, leaves,
          [&](int64_t leaf, int64_t row) { result[row * count + t] = static_cast<int32_t>(leaf); });
  });
  return Tensor::from(std::span<const int32_t>(result), {x.dim(0), count}, Device::cpu());
}

}  // namespace kaiseki::ml
