// SPDX-License-Identifier: MIT
#include "ml/tree/tree_grower.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <type_traits>
#include <utility>

#include "matrix/threads.h"
#include "ml/tree/class_splits.h"
#include "ml/tree/feature_sampler.h"
#include "ml/tree/split_search.h"
#include "ml/tree/squared_error_splits.h"

namespace kaiseki::ml {
namespace {

/// Returns the middle of a < b, rounded down to a float. A float is above the result exactly if it
/// is above the middle.
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

/// The rows of the samples: of all of them, or copies for a subtree, which fit into the cache.
template <class Value>
class SampleRows {
 public:
  SampleRows(const Value* all, size_t features) : all_(all), features_(features) {}

  /// Goes to the node whose samples begin at this position. Nodes come in the order of positions.
  void enter(size_t position) { copied_ = position < end_; }
  bool copied() const { return copied_; }
  /// Copies the rows of these samples, which end at this position, and renumbers the samples.
  void copy(std::span<TreeSample> samples, size_t end) {
    numbers_.resize(samples.size());
    rows_.resize(std::max(rows_.size(), samples.size() * features_));
    for (size_t i = 0; i < samples.size(); ++i) {
      std::copy_n((*this)[samples[i].row], features_, rows_.data() + i * features_);
      numbers_[i] = std::exchange(samples[i].row, static_cast<uint32_t>(i));
    }
    end_ = end;
    copied_ = true;
  }

  const Value* operator[](uint32_t row) const {
    return (copied_ ? rows_.data() : all_) + row * features_;
  }
  /// The numbers of copied rows, else nothing.
  std::span<const uint32_t> numbers() const {
    return copied_ ? std::span<const uint32_t>(numbers_) : std::span<const uint32_t>();
  }

 private:
  const Value* all_;
  size_t features_;
  std::vector<Value> rows_;
  std::vector<uint32_t> numbers_;
  size_t end_ = 0;
  bool copied_ = false;
};

/// Searches some features together, because their values are near each other in a row.
template <class Scan, class Value>
class GroupSearch {
 public:
  using Node = typename Scan::Node;

  /// Writes the best split by each feature.
  void operator()(const SampleRows<Value>& rows, std::span<const int32_t> features,
                  std::span<const TreeSample> samples, const Node& node, size_t least,
                  FeatureSplit* found) {
    const size_t n = samples.size();
    if (values_.size() < n * features.size()) values_.resize(n * features.size());
    for (size_t i = 0; i < n; ++i) {
      const Value* row = rows[samples[i].row];
      for (size_t f = 0; f < features.size(); ++f)
        values_[f * n + i] = static_cast<Value>(row[features[f]] + Value{0});  // -0 becomes 0
    }
    for (size_t f = 0; f < features.size(); ++f)
      found[f] = search_(std::span<const Value>(values_).subspan(f * n, n), samples, node, least);
  }

 private:
  SplitSearch<Scan> search_;
  std::vector<Value> values_;
};

template <class Scan, class Leaves, class Value>
class TreeGrower {
 public:
  using Node = typename Scan::Node;

  TreeGrower(const TreeData& data, const Value* values, std::vector<TreeSample> samples, Node node,
             Leaves leaves, const TreeGrowth& growth)
      : data_(data),
        rows_(values, static_cast<size_t>(data.features())),
        samples_(std::move(samples)),
        node_(std::move(node)),
        leaves_(std::move(leaves)),
        growth_(growth),
        sampler_(data.features(), growth.seed, growth.tree) {}

  Tree grow() {
    tree_.outputs = static_cast<int64_t>(node_.width());
    tree_.importance.assign(static_cast<size_t>(data_.features()), 0);
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
    rows_.enter(place.begin);
    if (deserves_copy(samples.size())) rows_.copy(samples, place.end);
    node_.begin(samples, rows_.numbers());
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

  /// Whether the rows of a subtree fit into the cache, and their elements are read about once.
  bool deserves_copy(size_t samples) const {
    const auto features = static_cast<size_t>(data_.features());
    return !rows_.copied() && samples * features * sizeof(Value) <= kSubtreeBytes &&
           static_cast<size_t>(growth_.features) * std::bit_width(samples) >= features / 2;
  }

  /// Whether the first one of equal features is the best. Else it is the first that was drawn.
  bool in_order() const { return !growth_.forest && growth_.features == data_.features(); }

  Split find_split(std::span<const TreeSample> samples, size_t constants) {
    sampler_.begin(constants);
    Split best;
    bool varied = false;
    search(in_order() ? sampler_.draw_all() : sampler_.draw(static_cast<size_t>(growth_.features)),
           samples, best, varied);
    while (!varied && sampler_.has_more()) search(sampler_.draw(1), samples, best, varied);
    return best;
  }

  void search(std::span<const int32_t> features, std::span<const TreeSample> samples, Split& best,
              bool& varied) {
    found_.resize(features.size());
    const auto least = static_cast<size_t>(growth_.min_samples_leaf);
    const size_t n = samples.size();
    const auto group = std::clamp<size_t>(kGroupBytes / (n * sizeof(Value)), 4, 32);
    const auto search_group = [&](GroupSearch<Scan, Value>& search, size_t begin) {
      search(rows_, features.subspan(begin, std::min(group, features.size() - begin)), samples,
             node_, least, found_.data() + begin);
    };
    if (!growth_.forest && features.size() * n >= kParallelElements) {
      parallel_for(static_cast<int64_t>(features.size()), static_cast<int64_t>(group),
                   [&](int64_t begin, int64_t) {
                     GroupSearch<Scan, Value> search;
                     search_group(search, static_cast<size_t>(begin));
                   });
    } else {
      for (size_t i = 0; i < features.size(); i += group) search_group(search_, i);
    }
    for (size_t i = 0; i < features.size(); ++i) {
      varied = varied || !found_[i].constant;
      if (!found_[i].found) continue;
      if (found_[i].score > best.at.score ||
          (in_order() && found_[i].score == best.at.score && features[i] < best.feature))
        best = {found_[i], features[i]};
    }
    sampler_.remember_constants([&](size_t i) { return found_[i].constant; });
  }

  float threshold(std::span<const TreeSample> samples, const Split& split) const {
    return threshold_between(value_of(split.at.last_left, samples, split.feature),
                             value_of(split.at.first_right, samples, split.feature));
  }

  float value_of(uint32_t order, std::span<const TreeSample> samples, int32_t feature) const {
    if constexpr (std::is_same_v<Value, float>) return float_of(value_key(order, 0));
    size_t i = 0;
    while (ordered(rows_[samples[i].row][feature]) != order) ++i;
    const size_t row = rows_.copied() ? rows_.numbers()[samples[i].row] : samples[i].row;
    return data_.values
        .data<float>()[row * static_cast<size_t>(data_.features()) + static_cast<size_t>(feature)];
  }

  /// Moves the samples of the left child to the front. Both sides keep their order, so that rows
  /// ascend. Returns the number of samples of the left child.
  size_t partition(std::span<TreeSample> samples, const Split& split) {
    if (right_.size() < samples.size()) right_.resize(samples.size());
    size_t left = 0, right = 0;
    for (const TreeSample sample : samples) {
      const Value value = rows_[sample.row][split.feature];
      const bool to_left = ordered(static_cast<Value>(value + Value{0})) <= split.at.last_left;
      samples[left] = right_[right] = sample;
      left += to_left;
      right += !to_left;
    }
    std::copy_n(right_.begin(), right, samples.begin() + static_cast<std::ptrdiff_t>(left));
    return left;
  }

  // The rows of a subtree then fit into a cache of the second level.
  static constexpr size_t kSubtreeBytes = 1 << 20;
  static constexpr size_t kGroupBytes = 1 << 22;
  // About 0.1 ms of work.
  static constexpr size_t kParallelElements = 1 << 14;
  // The rounding of a decrease of impurity of 0
  static constexpr double kTolerance = 1e-12;

  const TreeData& data_;
  SampleRows<Value> rows_;
  std::vector<TreeSample> samples_, right_;
  Node node_;
  Leaves leaves_;
  TreeGrowth growth_;
  FeatureSampler sampler_;
  GroupSearch<Scan, Value> search_;
  std::vector<FeatureSplit> found_;
  std::vector<Pending> pending_;
  double root_weight_ = 0;
  Tree tree_;
};

/// Grows the tree from codes if there are any, else from values.
template <class Scan, class Leaves>
Tree grow_tree(const TreeData& data, std::vector<TreeSample> samples,
               const typename Scan::Node& node, const Leaves& leaves, const TreeGrowth& growth) {
  if (!data.codes.empty())
    return TreeGrower<Scan, Leaves, uint8_t>(data, data.codes.data(), std::move(samples), node,
                                             leaves, growth)
        .grow();
  return TreeGrower<Scan, Leaves, float>(data, data.values.data<float>(), std::move(samples), node,
                                         leaves, growth)
      .grow();
}

}  // namespace

Tree grow_class_tree(const TreeData& data, std::vector<TreeSample> samples,
                     const ClassTargets& targets, TreeCriterion criterion,
                     const TreeGrowth& growth) {
  const ClassNode node(targets.weights);
  const ClassLeaves leaves(targets.weights.size());
  if (criterion == TreeCriterion::entropy)
    return grow_tree<EntropyScan>(data, std::move(samples), node, leaves, growth);
  return grow_tree<GiniScan>(data, std::move(samples), node, leaves, growth);
}

Tree grow_regression_tree(const TreeData& data, std::vector<TreeSample> samples,
                          const RealTargets& targets, const TreeGrowth& growth) {
  const TargetNode node(targets.centered.data(), targets.means.size());
  return grow_tree<SquaredErrorScan>(data, std::move(samples), node, TargetLeaves(targets.means),
                                     growth);
}

}  // namespace kaiseki::ml
