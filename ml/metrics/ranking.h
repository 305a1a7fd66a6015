// SPDX-License-Identifier: MIT
// How well scores order the samples: the ROC curve and the area under it.
#pragma once

#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

struct RocOptions {
  int32_t pos_label = 1;
  bool drop_intermediate = true;  // leave out points on a straight line between their neighbors
};

struct RocCurve {
  std::vector<double> fpr, tpr;    // the rates of false and true positives, ascending
  std::vector<double> thresholds;  // descending; the first is the largest score + 1
};

/// The points of the curve: samples with a score of the threshold or more count as positive. truth
/// is i32 [n], scores is f32 [n]. Labels other than pos_label are negative. Throws ShapeError, also
/// if there are no positive or no negative samples.
RocCurve roc_curve(const Tensor& truth, const Tensor& scores, const RocOptions& options = {});

/// How roc_auc_score() treats more than two classes: each class against the rest, or each pair of
/// classes (Hand and Till, "A simple generalisation of the area under the ROC curve", 2001).
enum class MultiClass : uint8_t { one_vs_rest, one_vs_one };

struct AucOptions {
  MultiClass multi_class = MultiClass::one_vs_rest;
  bool weighted = false;  // by the number of samples of the classes; else the mean
};

/// The area under the ROC curve. For two classes, scores is f32 [n], and the larger label is
/// positive. For more, scores is f32 [n, classes], in ascending order of the labels. Throws
/// ShapeError.
double roc_auc_score(const Tensor& truth, const Tensor& scores, const AucOptions& options = {});

}  // namespace kaiseki::ml
