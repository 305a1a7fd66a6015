// SPDX-License-Identifier: MIT
#include "ml/tree/tree_grower.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

#include "matrix/threads.h"
#include "ml/tree/class_splits.h"
#include "ml/tree/feature_sampler.h"
#include "ml/tree/split_search.h"
#include "ml/tree/squared_error_splits.h"

namespace kaiseki::ml {
namespace {

/// Between a < b: the middle, rounded down. A float is not above it if it is not above the middle.
float threshold_between(float a, float b) {
  const double middle = static_cast<double>(a) / 2 + static_cast<double>(b) / 2;
  const auto rounded = static_cast<float>(middle);
  return static_cast<double>(rounded) <= middle ? rounded : std::nextafter(rounded, a);
}

/// Rows of values by class. All leaves of only one class share a row.
class ClassLeaves {
 public:
  explicit ClassLeaves(size_t classes) : pure_rows_(classes, -1) {}
  int32_t row(const ClassNode& node, std::vector<float>& values) {
    const auto next = static_cast<int32_t>(values.size() / node.width());
    if (node.pure()) {
      size_t label = 0;
      while (!(node.total(label) > 0)) ++label;
      if (pure_rows_[label] >= 0) return pure_rows_[label];
      pure_rows_[label] = next;
    }
    for (const double total : node.totals())
      values.push_back(static_cast<float>(total / node.weight()));
    return next;
  }

 private:
  std::vector<int32_t> pure_rows_;  // -1: not yet
};

class TargetLeaves {
 public:
  explicit TargetLeaves(const std::vector<double>& means) : means_(means) {}
  int32_t row(const TargetNode& node, std::vector<float>& values) {
    const auto next = static_cast<int32_t>(values.size() / node.width());
    for (size_t o = 0; o < node.width(); ++o)
      values.push_back(static_cast<float>(means_[o] + node.totals()[o] / node.weight()));
    return next;
  }

 private:
  const std::vector<double>& means_;
};

/// Copies of the ranks of a subtree's samples, small enough for the cache.
class SubtreeColumns {
 public:
  /// Renumbers the samples.
  void begin(const RankedColumns& from, std::span<TreeSample> samples, size_t end) {
    rows_.resize(samples.size());
    for (size_t i = 0; i < samples.size(); ++i)
      rows_[i] = std::exchange(samples[i].row, static_cast<uint32_t>(i));
    columns_.assign_rows(from, rows_);
    end_ = end;
  }
  /// Whether the list of samples at this position belongs to the subtree.
  bool contains(size_t position) const { return position < end_; }
  const RankedColumns& columns() const { return columns_; }
  std::span<const uint32_t> rows() const { return rows_; }

 private:
  RankedColumns columns_;
  std::vector<uint32_t> rows_;
  size_t end_ = 0;
};

template <class Scan, class Leaves>
class TreeGrower {
 public:
  using Node = typename Scan::Node;

  TreeGrower(const TreeData& data, std::vector<TreeSample> samples, Node node, Leaves leaves,
             const TreeGrowth& growth)
      : data_(data),
        samples_(std::move(samples)),
        node_(std::move(node)),
        leaves_(std::move(leaves)),
        growth_(growth),
        sampler_(data.columns.features(), growth.seed, growth.tree) {}

  Tree grow() {
    tree_.outputs = static_cast<int64_t>(node_.width());
    tree_.importance.assign(static_cast<size_t>(data_.columns.features()), 0);
    pending_.push_back({.begin = 0, .end = samples_.size()});
    while (!pending_.empty()) {
      const Pending next = pending_.back();
      pending_.pop_back();
      grow_node(next);
    }
    tree_.nodes.shrink_to_fit();
    tree_.values.shrink_to_fit();
    return std::move(tree_);
  }

 private:
  struct Pending {
    size_t begin, end;  // of the samples
    int64_t depth = 0;
    std::optional<size_t> parent = {};  // of a right child
    size_t constants = 0;
  };
  struct Split {
    FeatureSplit at;
    int32_t feature = -1;
  };

  void grow_node(const Pending& place) {
    const auto number = tree_.nodes.size();
    if (place.parent) tree_.nodes[*place.parent].next = static_cast<int32_t>(number);
    tree_.nodes.emplace_back();
    const std::span samples = std::span(samples_).subspan(place.begin, place.end - place.begin);
    enter_subtree(samples, place);
    node_.begin(samples, rows());
    if (number == 0) root_weight_ = node_.weight();
    const Split split =
        ends(samples.size(), place.depth) ? Split{} : find_split(samples, place.constants);
    const double gain =
        split.at.found ? (split.at.score - Scan::node_score(node_)) / Scan::unit(node_) : 0;
    if (!split.at.found || gain / root_weight_ < growth_.min_impurity_decrease - kTolerance) {
      tree_.nodes[number].next = leaves_.row(node_, tree_.values);
      return;
    }
    tree_.importance[split.feature] += std::max(gain, 0.0);
    tree_.nodes[number].feature = split.feature;
    tree_.nodes[number].threshold = threshold(samples, split);
    const size_t middle = place.begin + partition(samples, split);
    const size_t constants = sampler_.constants();
    pending_.push_back({middle, place.end, place.depth + 1, number, constants});
    pending_.push_back({place.begin, middle, place.depth + 1, {}, constants});
  }

  bool ends(size_t samples, int64_t depth) const {
    const auto n = static_cast<int64_t>(samples);
    return (growth_.max_depth && depth >= *growth_.max_depth) || n < growth_.min_samples_split ||
           n < 2 * growth_.min_samples_leaf || node_.pure();
  }

  /// Copies the columns of a small subtree if its searches read each element about once or more.
  void enter_subtree(std::span<TreeSample> samples, const Pending& place) {
    in_subtree_ = subtree_.contains(place.begin);
    const int64_t features = data_.columns.features();
    const auto n = static_cast<int64_t>(samples.size());
    if (in_subtree_ || n > kSubtreeElements / features ||
        growth_.features * static_cast<int64_t>(std::bit_width(samples.size())) < features)
      return;
    subtree_.begin(data_.columns, samples, place.end);
    in_subtree_ = true;
  }
  std::span<const uint32_t> rows() const {
    return in_subtree_ ? subtree_.rows() : std::span<const uint32_t>();
  }
  const RankedColumns& columns() const { return in_subtree_ ? subtree_.columns() : data_.columns; }

  Split find_split(std::span<const TreeSample> samples, size_t constants) {
    sampler_.begin(constants);
    Split best;
    bool varied = false;
    const bool all = growth_.features == data_.columns.features();
    search(all ? sampler_.draw_all() : sampler_.draw(static_cast<size_t>(growth_.features)),
           samples, best, varied);
    while (!varied && sampler_.has_more()) search(sampler_.draw(1), samples, best, varied);
    return best;
  }

  void search(std::span<const int32_t> features, std::span<const TreeSample> samples, Split& best,
              bool& varied) {
    found_.resize(features.size());
    const auto search_one = [&](SplitSearch<Scan>& search, size_t i) {
      found_[i] = columns().visit(features[i], [&](const auto* ranks) {
        return search(ranks, samples, node_, static_cast<size_t>(growth_.min_samples_leaf));
      });
    };
    if (growth_.parallel && features.size() * samples.size() >= kParallelElements)
      parallel_for(static_cast<int64_t>(features.size()), 1, [&](int64_t begin, int64_t) {
        SplitSearch<Scan> search;
        search_one(search, static_cast<size_t>(begin));
      });
    else
      for (size_t i = 0; i < features.size(); ++i) search_one(search_, i);
    // Of equal splits by all features, the one by the first feature is the best.
    const bool ordered = growth_.features == data_.columns.features();
    for (size_t i = 0; i < features.size(); ++i) {
      varied = varied || !found_[i].constant;
      if (!found_[i].found) continue;
      if (found_[i].score > best.at.score ||
          (ordered && found_[i].score == best.at.score && features[i] < best.feature))
        best = {found_[i], features[i]};
    }
    sampler_.remember_constants([&](size_t i) { return found_[i].constant; });
  }

  float threshold(std::span<const TreeSample> samples, const Split& split) const {
    const float* x = data_.values.data<float>();
    const auto value = [&](uint32_t rank) {
      return columns().visit(split.feature, [&](const auto* ranks) {
        size_t i = 0;
        while (ranks[samples[i].row] != rank) ++i;
        const size_t row = in_subtree_ ? subtree_.rows()[samples[i].row] : samples[i].row;
        return x[row * tree_.importance.size() + static_cast<size_t>(split.feature)];
      });
    };
    return threshold_between(value(split.at.last_left), value(split.at.first_right));
  }

  /// Moves the samples of the left child to the front. Both sides keep their order, so that rows
  /// ascend. Returns the number of samples of the left child.
  size_t partition(std::span<TreeSample> samples, const Split& split) {
    right_.resize(std::max(right_.size(), samples.size()));
    return columns().visit(split.feature, [&](const auto* ranks) {
      size_t left = 0, right = 0;
      for (const TreeSample sample : samples) {
        const bool to_left = ranks[sample.row] <= split.at.last_left;
        samples[left] = right_[right] = sample;
        left += to_left;
        right += !to_left;
      }
      std::copy_n(right_.begin(), right, samples.begin() + static_cast<std::ptrdiff_t>(left));
      return left;
    });
  }

  // The ranks of a subtree then fit into a cache of the second level.
  static constexpr int64_t kSubtreeElements = 1 << 17;
  // About 0.1 ms of work.
  static constexpr size_t kParallelElements = 1 << 14;
  // The rounding of a decrease of impurity of 0
  static constexpr double kTolerance = 1e-12;

  const TreeData& data_;
  std::vector<TreeSample> samples_, right_;
  Node node_;
  Leaves leaves_;
  TreeGrowth growth_;
  FeatureSampler sampler_;
  SplitSearch<Scan> search_;
  SubtreeColumns subtree_;
  bool in_subtree_ = false;
  std::vector<FeatureSplit> found_;
  std::vector<Pending> pending_;
  double root_weight_ = 0;
  Tree tree_;
};

}  // namespace

Tree grow_class_tree(const TreeData& data, std::vector<TreeSample> samples,
                     const ClassTargets& targets, TreeCriterion criterion,
                     const TreeGrowth& growth) {
  const ClassNode node(targets.weights);
  const ClassLeaves leaves(targets.weights.size());
  if (criterion == TreeCriterion::entropy)
    return TreeGrower<EntropyScan, ClassLeaves>(data, std::move(samples), node, leaves, growth)
        .grow();
  return TreeGrower<GiniScan, ClassLeaves>(data, std::move(samples), node, leaves, growth).grow();
}

Tree grow_regression_tree(const TreeData& data, std::vector<TreeSample> samples,
                          const RealTargets& targets, const TreeGrowth& growth) {
  const TargetNode node(targets.centered.data(), targets.means.size());
  return TreeGrower<SquaredErrorScan, TargetLeaves>(data, std::move(samples), node,
                                                    TargetLeaves(targets.means), growth)
      .grow();
}

}  // namespace kaiseki::ml
