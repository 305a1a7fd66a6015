// SPDX-License-Identifier: MIT
// Cross-validation of any estimator.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "matrix/tensor.h"
#include "ml/preprocessing/split.h"

namespace kaiseki::ml {

/// The functions of an estimator that cross-validation needs. Larger scores are better.
template <class T>
concept Estimator = std::copy_constructible<T> &&
    requires(T model, const T fitted, const Tensor& x, const Tensor& y) {
  model.fit(x, y);
  { fitted.predict(x) } -> std::convertible_to<Tensor>;
  { fitted.score(x, y) } -> std::convertible_to<double>;
};

struct CrossValOptions {
  int64_t n_splits = 5;
  bool shuffle = false;
  uint64_t seed = 0;  // only for shuffle
  /// If not empty, these are the folds, and the other members have no effect.
  std::vector<SplitIndices> folds = {};
};

/// The folds of the options. Labels, i32 [n], get those of StratifiedKFold, and targets, f32
/// [n, ...], get those of KFold. Throws ShapeError, also for a given fold with an empty part.
std::vector<SplitIndices> cross_val_folds(const Tensor& y, const CrossValOptions& options);

/// The samples and targets of a fold, as copies. x and y have the same number of samples.
TrainTestParts fold_parts(const Tensor& x, const Tensor& y, const SplitIndices& fold);

/// For each fold, a copy of the estimator learns from the other samples. Returns its scores on the
/// folds. x is [n, ...], y is [n] or [n, outputs]. Throws ShapeError and the errors of the
/// estimator. Folds run one after another, because estimators use all threads.
template <Estimator Model>
std::vector<double> cross_val_score(const Model& estimator, const Tensor& x, const Tensor& y,
                                    const CrossValOptions& options = {}) {
  std::vector<double> scores;
  for (const SplitIndices& fold : cross_val_folds(y, options)) {
    const TrainTestParts parts = fold_parts(x, y, fold);
    Model model(estimator);
    model.fit(parts.x_train, parts.y_train);
    scores.push_back(model.score(parts.x_test, parts.y_test));
  }
  return scores;
}

}  // namespace kaiseki::ml
