// SPDX-License-Identifier: MIT
#include "ml/preprocessing/split.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "matrix/ops/check.h"
#include "matrix/ops/index.h"
#include "matrix/random.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

using Indices = std::vector<int32_t>;

Tensor index_tensor(const Indices& indices) { return tensor_from(indices, Device::cpu()); }

Indices ascending(int64_t n) {
  Indices indices(static_cast<size_t>(n));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

/// Fisher-Yates.
template <typename Values>
void shuffle_values(Values& values, Random& random) {
  for (size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[static_cast<size_t>(random.below(i))]);
}

/// The numbers of samples of both parts.
struct PartSizes {
  int64_t train, test;
};

PartSizes part_sizes(int64_t n, const TrainTestSplitOptions& options) {
  const std::string_view name = "train_test_split";
  const auto inside = [](double part) { return part > 0 && part < 1; };
  require(inside(options.test_size), name, "expected 0 < test_size < 1, got ", options.test_size);
  require(inside(options.train_size.value_or(0.5)), name, "expected 0 < train_size < 1, got ",
          options.train_size.value_or(0.5));
  const auto count = static_cast<double>(n);
  const auto test = static_cast<int64_t>(std::ceil(options.test_size * count));
  const auto train =
      options.train_size ? static_cast<int64_t>(std::floor(*options.train_size * count)) : n - test;
  require(train > 0 && test > 0 && train + test <= n, name,
          "expected at least one sample for each part, got ", train, " and ", test, " of ", n);
  return {train, test};
}

/// `total` samples of classes with these sizes, in proportion. The largest remainders round up.
std::vector<int64_t> proportional(const std::vector<int64_t>& sizes, int64_t total) {
  const int64_t n = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  std::vector<int64_t> counts;
  std::vector<double> remainders;
  int64_t left = total;
  for (int64_t size : sizes) {
    const double exact =
        static_cast<double>(size) * static_cast<double>(total) / static_cast<double>(n);
    counts.push_back(static_cast<int64_t>(std::floor(exact)));
    remainders.push_back(exact - std::floor(exact));
    left -= counts.back();
  }
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return remainders[a] > remainders[b]; });
  for (size_t i = 0; left > 0; i = (i + 1) % order.size())
    if (counts[order[i]] < sizes[order[i]]) {
      ++counts[order[i]];
      --left;
    }
  return counts;
}

SplitIndices stratified(int64_t n, const PartSizes& sizes, const TrainTestSplitOptions& options) {
  const std::string_view name = "train_test_split";
  require(options.shuffle, name, "expected shuffle for stratified parts");
  const LabelCodes labels = encode_labels(read_labels(*options.stratify, n, name));
  std::vector<Indices> members(labels.classes.size());
  for (int32_t i = 0; i < n; ++i)
    members[static_cast<size_t>(labels.codes[static_cast<size_t>(i)])].push_back(i);
  const auto classes = static_cast<int64_t>(members.size());
  require(sizes.train >= classes && sizes.test >= classes, name, "expected at least ", classes,
          " samples in each part, one for each class, got ", sizes.train, " and ", sizes.test);
  std::vector<int64_t> class_sizes;
  for (size_t c = 0; c < members.size(); ++c) {
    require(members[c].size() > 1, name, "expected at least two samples of class ",
            labels.classes[c], ", got 1");
    class_sizes.push_back(static_cast<int64_t>(members[c].size()));
  }
  const std::vector<int64_t> train_counts = proportional(class_sizes, sizes.train);
  for (size_t c = 0; c < members.size(); ++c) class_sizes[c] -= train_counts[c];
  const std::vector<int64_t> test_counts = proportional(class_sizes, sizes.test);
  Random random(options.seed);
  Indices train, test;
  for (size_t c = 0; c < members.size(); ++c) {
    shuffle_values(members[c], random);
    const auto first = members[c].begin(), middle = first + train_counts[c];
    train.insert(train.end(), first, middle);
    test.insert(test.end(), middle, middle + test_counts[c]);
  }
  shuffle_values(train, random);
  shuffle_values(test, random);
  return {index_tensor(train), index_tensor(test)};
}

/// The fold of each sample, as indices.
std::vector<SplitIndices> folds_of(const std::vector<int64_t>& fold, int64_t n_splits) {
  std::vector<SplitIndices> folds;
  for (int64_t f = 0; f < n_splits; ++f) {
    Indices train, test;
    for (size_t i = 0; i < fold.size(); ++i)
      (fold[i] == f ? test : train).push_back(static_cast<int32_t>(i));
    folds.push_back({index_tensor(train), index_tensor(test)});
  }
  return folds;
}

KFoldOptions checked(const KFoldOptions& options, std::string_view name) {
  require(options.n_splits >= 2, name, "expected at least two folds, got ", options.n_splits);
  return options;
}

void check_count(int64_t n, std::string_view name) {
  require(n > 0 && n <= std::numeric_limits<int32_t>::max(), name,
          "expected 1 to 2^31 - 1 samples, got ", n);
}

}  // namespace

SplitIndices train_test_indices(int64_t samples, const TrainTestSplitOptions& options) {
  check_count(samples, "train_test_split");
  const PartSizes sizes = part_sizes(samples, options);
  if (options.stratify) return stratified(samples, sizes, options);
  Indices all = ascending(samples);
  if (!options.shuffle)
    return {index_tensor({all.begin(), all.begin() + sizes.train}),
            index_tensor({all.begin() + sizes.train, all.begin() + sizes.train + sizes.test})};
  Random random(options.seed);
  shuffle_values(all, random);
  const auto middle = all.begin() + sizes.test;
  return {index_tensor({middle, middle + sizes.train}), index_tensor({all.begin(), middle})};
}

TrainTestParts train_test_split(const Tensor& x, const Tensor& y,
                                const TrainTestSplitOptions& options) {
  const std::string_view name = "train_test_split";
  require(x.defined() && y.defined() && x.rank() > 0 && y.rank() > 0 && x.dim(0) == y.dim(0), name,
          "expected x and y with the same number of samples, got ", x.shape(), " and ", y.shape());
  const SplitIndices parts = train_test_indices(x.dim(0), options);
  const auto rows = [](const Tensor& t, const Tensor& indices) {
    return take(t, indices.to(t.device()), 0);
  };
  return {rows(x, parts.train), rows(x, parts.test), rows(y, parts.train), rows(y, parts.test)};
}

KFold::KFold(KFoldOptions options) : options_(checked(options, "KFold")) {}

std::vector<SplitIndices> KFold::split(int64_t samples) const {
  check_count(samples, "KFold");
  require(samples >= options_.n_splits, "KFold", "expected at least ", options_.n_splits,
          " samples, one for each fold, got ", samples);
  Indices order = ascending(samples);
  if (options_.shuffle) {
    Random random(options_.seed);
    shuffle_values(order, random);
  }
  const int64_t size = samples / options_.n_splits, larger = samples % options_.n_splits;
  std::vector<int64_t> fold(static_cast<size_t>(samples));
  size_t next = 0;
  for (int64_t f = 0; f < options_.n_splits; ++f)
    for (int64_t i = 0; i < size + (f < larger); ++i) fold[static_cast<size_t>(order[next++])] = f;
  return folds_of(fold, options_.n_splits);
}

StratifiedKFold::StratifiedKFold(KFoldOptions options)
    : options_(checked(options, "StratifiedKFold")) {}

std::vector<SplitIndices> StratifiedKFold::split(const Tensor& y) const {
  const std::string_view name = "StratifiedKFold";
  require(y.defined() && y.rank() == 1, name, "expected labels of shape [n], got ", y.shape());
  check_count(y.dim(0), name);
  const std::vector<int32_t> labels = read_labels(y, y.dim(0), name);
  // Classes in the order of their first sample, so that the folds do not depend on their names.
  const LabelCodes sorted = encode_labels(labels);
  std::vector<int64_t> rank(sorted.classes.size(), -1), sizes;
  std::vector<size_t> codes;
  for (int32_t code : sorted.codes) {
    int64_t& r = rank[static_cast<size_t>(code)];
    if (r < 0) {
      r = static_cast<int64_t>(sizes.size());
      sizes.push_back(0);
    }
    ++sizes[static_cast<size_t>(r)];
    codes.push_back(static_cast<size_t>(r));
  }
  const int64_t n_splits = options_.n_splits;
  const int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  require(largest >= n_splits, name, "expected a class with at least ", n_splits,
          " samples, one for each fold, got at most ", largest);
  // Samples that are sorted by class go to the folds in turn. This sets the fold sizes of a class.
  std::vector<std::vector<int64_t>> folds(sizes.size());
  int64_t position = 0;
  for (size_t c = 0; c < sizes.size(); ++c) {
    std::vector<int64_t> counts(static_cast<size_t>(n_splits));
    for (int64_t i = 0; i < sizes[c]; ++i) ++counts[static_cast<size_t>(position++ % n_splits)];
    for (int64_t f = 0; f < n_splits; ++f)
      folds[c].insert(folds[c].end(), static_cast<size_t>(counts[static_cast<size_t>(f)]), f);
  }
  if (options_.shuffle) {
    Random random(options_.seed);
    for (auto& of_class : folds) shuffle_values(of_class, random);
  }
  std::vector<size_t> used(sizes.size());
  std::vector<int64_t> fold;
  for (size_t code : codes) fold.push_back(folds[code][used[code]++]);
  return folds_of(fold, n_splits);
}

}  // namespace kaiseki::ml
