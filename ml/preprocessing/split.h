// SPDX-License-Identifier: MIT
// Splits samples into parts for training and for testing. All throw ShapeError.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// The numbers of samples, i32, for take(x, indices, 0).
struct SplitIndices {
  Tensor train, test;
};

struct TrainTestSplitOptions {
  /// The part of the samples, between 0 and 1. The number of samples is rounded up for the test,
  /// and down for the training.
  double test_size = 0.25;
  std::optional<double> train_size = {};  // default: all samples that are not for the test
  bool shuffle = true;
  /// Labels i32 [n]. If set, each part has each class in the same proportion. Requires `shuffle`,
  /// and at least two samples of each class.
  const Tensor* stratify = nullptr;
  uint64_t seed = 0;
};

/// Without `shuffle`, the test is at the end.
SplitIndices train_test_indices(int64_t samples, const TrainTestSplitOptions& options = {});

struct TrainTestParts {
  Tensor x_train, x_test, y_train, y_test;
};
/// The rows of x [n, ...] and y [n, ...], of any type.
TrainTestParts train_test_split(const Tensor& x, const Tensor& y,
                                const TrainTestSplitOptions& options = {});

struct KFoldOptions {
  int64_t n_splits = 5;
  bool shuffle = false;
  uint64_t seed = 0;
};

/// Each sample is in the test of one fold. The first n % n_splits folds have one sample more.
class KFold {
 public:
  /// Requires two or more folds.
  explicit KFold(KFoldOptions options = {});
  /// Indices ascend. Requires at least as many samples as folds.
  std::vector<SplitIndices> split(int64_t samples) const;

 private:
  KFoldOptions options_;
};

/// The same, with each class in the same proportion in each fold, as far as possible. A class with
/// fewer samples than folds is missing in some folds.
class StratifiedKFold {
 public:
  explicit StratifiedKFold(KFoldOptions options = {});
  /// labels is i32 [n]. Requires a class with at least as many samples as folds.
  std::vector<SplitIndices> split(const Tensor& labels) const;

 private:
  KFoldOptions options_;
};

}  // namespace kaiseki::ml
