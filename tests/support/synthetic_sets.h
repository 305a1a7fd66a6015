// SPDX-License-Identifier: MIT
// The 20 sets of make_ml_synthetic_cases.py, and comparisons with scikit-learn's results on them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "matrix/tensor.h"
#include "tests/support/ml_cases.h"
#include "tests/support/seeds.h"

namespace kaiseki::test {

constexpr int kSyntheticSets = 20;
constexpr int64_t kFew = 6;  // samples whose predictions the script keeps
// The limit of one case. There are about 300 cases, so chance alone exceeds three errors in one.
constexpr double kMostErrorsOfSet = 4;

/// classes_of() of the script: up to 629 samples of 2 to 8 features and 2 to 5 classes.
inline MlSet synthetic_classes(int i) {
  return blobs_set(40 + 31 * i, 2 + i % 7, 2 + i % 4, static_cast<uint32_t>(300 + 7 * i));
}

/// counts_of(): the same classes with features that are whole numbers.
inline MlSet synthetic_counts(int i) {
  const MlSet set = synthetic_classes(i);
  std::vector<double> counts;
  for (float x : set.x.to_vector())
    counts.push_back(std::max(0.0, std::floor(4 * static_cast<double>(x)) + 4));
  return {floats(counts, set.x.shape()), set.y};
}

/// targets_of(): up to 733 samples of 2 to 21 features and 1 to 3 targets.
inline MlSet synthetic_targets(int i) {
  return regression_set(30 + 37 * i, 2 + i, 1 + i % 3, static_cast<uint32_t>(100 + 7 * i));
}

/// one_target_of(): the first target, f32 [n].
inline MlSet synthetic_target(int i) {
  const MlSet set = synthetic_targets(i);
  if (set.y.rank() == 1) return set;
  return {set.x, set.y.slice(1, 0, 1).contiguous().reshape({set.y.dim(0)})};
}

/// training_part(): the first four fifths of the samples, and the rest.
struct TrainingAndTest {
  MlSet train, test;
};
inline TrainingAndTest training_and_test(const MlSet& set) {
  const int64_t n = set.x.dim(0), rows = n * 4 / 5;
  return {{set.x.slice(0, 0, rows), set.y.slice(0, 0, rows)},
          {set.x.slice(0, rows, n - rows), set.y.slice(0, rows, n - rows)}};
}

template <class Model>
double test_score(Model&& model, const TrainingAndTest& parts) {
  model.fit(parts.train.x, parts.train.y);
  return model.score(parts.test.x, parts.test.y);
}

/// The first samples, whose predictions the script keeps.
inline Tensor few(const Tensor& x) { return x.slice(0, 0, std::min(kFew, x.dim(0))); }

/// An accuracy is equal, because one sample is more than 1e-4 of all.
inline void check_score(double score, const MlCase& expected) {
  CHECK(difference({score}, expected.values) < 1e-4);
}

/// Compares a linear model with its coefficients, its intercept and its score in the file.
template <typename Model>
void check_linear(Model&& model, const MlSet& set, const MlCases& cases, const std::string& name) {
  CAPTURE(name);
  model.fit(set.x, set.y);
  CHECK(difference(model.coefficients(), cases[name + ".w"].values) < 1e-4);
  CHECK(difference(model.intercept(), cases[name + ".b"].values) < 1e-4);
  check_score(model.score(set.x, set.y), cases[name + ".score"]);
}

/// Compares scores of 20 seeds for each case by the rule of seeds.h.
class SeedComparison {
 public:
  /// `errors_of` is a function of seeds.h.
  explicit SeedComparison(const MlCases& cases, SeedErrors errors_of = errors_between)
      : cases_(cases), errors_of_(errors_of) {}

  /// score(seed) is a number for each seed.
  template <typename Score>
  void add(const std::string& name, const Score& score) {
    std::vector<double> ours;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) ours.push_back(score(seed));
    // f32 rounds the predictions, the inertia and the likelihood by less than 1e-6.
    const double errors = errors_of_(ours, cases_[name + ".seeds"].values, 1e-6);
    CAPTURE(name);
    CHECK(errors < kMostErrorsOfSet);
    sum_ += errors;
    ++count_;
  }
  /// The mean over the cases.
  void check(int cases = kSyntheticSets) const {
    CHECK(count_ == cases);
    CHECK(sum_ / count_ <= 1);
  }

 private:
  const MlCases& cases_;
  SeedErrors errors_of_;
  double sum_ = 0;
  int count_ = 0;
};

}  // namespace kaiseki::test
