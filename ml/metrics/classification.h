// SPDX-License-Identifier: MIT
// How well predicted labels agree with the true ones. Labels are i32 [n], any integers, n > 0. All
// throw ShapeError.
#pragma once

#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// The part of the labels that agree.
double accuracy_score(const Tensor& truth, const Tensor& predicted);

/// i32 [classes, classes]: element (i, j) counts the samples of class i with prediction j. The
/// classes are `labels` in their order, or all labels that occur, ascending. Samples of other
/// labels do not count.
Tensor confusion_matrix(const Tensor& truth, const Tensor& predicted,
                        const std::vector<int32_t>& labels = {});

/// The way to combine the scores of the classes.
enum class ScoreAverage : uint8_t {
  binary,    // the score of ScoreOptions::pos_label; requires at most two classes
  micro,     // the score of the counts of all classes together
  macro,     // the mean
  weighted,  // the mean, weighted by the number of samples of each class
};

struct ScoreOptions {
  ScoreAverage average = ScoreAverage::binary;
  int32_t pos_label = 1;     // only for `binary`
  double zero_division = 0;  // the score if its divisor is 0
};

/// The part of the samples predicted as a class that belong to this class.
double precision_score(const Tensor& truth, const Tensor& predicted,
                       const ScoreOptions& options = {});
/// The part of the samples of a class that are predicted as this class.
double recall_score(const Tensor& truth, const Tensor& predicted, const ScoreOptions& options = {});
/// The harmonic mean of precision and recall.
double f1_score(const Tensor& truth, const Tensor& predicted, const ScoreOptions& options = {});

struct ClassScores {
  std::vector<int32_t> classes;  // ascending
  std::vector<double> precision, recall, f1;
  std::vector<int64_t> support;  // the number of samples of each class
};
/// The scores of each class that occurs in the truth or the predictions.
ClassScores precision_recall_fscore_support(const Tensor& truth, const Tensor& predicted,
                                            double zero_division = 0);

}  // namespace kaiseki::ml
