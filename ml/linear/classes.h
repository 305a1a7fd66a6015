// SPDX-License-Identifier: MIT
// Functions of all linear classifiers: they give weights of classes, and labels from scores.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"
#include "ml/samples.h"

namespace kaiseki::ml {

class LinearFunction;

/// How much the samples of a class count. Without a weight, it is 1.
struct ClassWeights {
  bool balanced = false;                  // n / (classes * samples of the class), for all classes
  std::map<int32_t, double> values = {};  // by label
};

/// The weight of each class. Throws ShapeError for a negative weight, for a label that is no class,
/// and if both members are set.
std::vector<double> weights_of_classes(const ClassWeights& weights, const LabelCodes& labels,
                                       std::string_view name);

/// Requires at least two classes.
void check_classes(const std::vector<int32_t>& classes, std::string_view name);

/// Checks x and the classes `given` to partial_fit() of a model with this function. Returns the
/// model's classes, which are `known` after the first call.
std::vector<int32_t> classes_of_call(const Tensor& x, const std::vector<int32_t>& given,
                                     const LinearFunction& function,
                                     const std::vector<int32_t>& known, std::string_view name);

/// The labels i32 [n]: the class of the largest score for scores [n, classes]. For two classes and
/// scores [n] it is the larger one if the score is above 0.
Tensor labels_from_scores(const Tensor& scores, const std::vector<int32_t>& classes);

}  // namespace kaiseki::ml
