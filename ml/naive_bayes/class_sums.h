// SPDX-License-Identifier: MIT
// Sums over the samples of each class, and the classes of partial_fit().
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// The codes of y (i32 [n]) for these classes. If `known` is empty, this is the first call. The
/// classes are then `given`, which must not be empty, sorted and without repetition. Else `given`
/// must be empty or have the same classes. Throws ShapeError.
struct BatchLabels {
  std::vector<int32_t> classes, codes;
};
BatchLabels batch_labels(const Tensor& y, int64_t samples, const std::vector<int32_t>& known,
                         const std::vector<int32_t>& given, std::string_view name);

/// The number of samples of each class.
std::vector<double> class_counts(const std::vector<int32_t>& codes, size_t classes);

/// The sum of the rows of each class: [classes, features]. Products run on the device of x.
std::vector<double> class_sums(const Tensor& x, const std::vector<int32_t>& codes, size_t classes);

struct ClassMoments {
  std::vector<double> means, variances;  // [classes, features]; 0 for a class without samples
};
/// Two passes, so that the means cost no accuracy of the variances.
ClassMoments class_moments(const Tensor& x, const std::vector<int32_t>& codes,
                           const std::vector<double>& counts);

/// Requires probabilities with the sum 1, one for each class. An empty list passes. Throws Error.
void check_priors(const std::vector<double>& priors, size_t classes, std::string_view name);

}  // namespace kaiseki::ml
