// SPDX-License-Identifier: MIT
// Checks of the samples that estimators receive, and passes over them in blocks of rows.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// Requires f32 [n, features], not empty, without NaN and infinity. Returns x, or a copy if x is
/// not contiguous. Throws ShapeError for the shape, and Error for such an element.
Tensor check_samples(const Tensor& x, std::string_view name);
/// The same, and requires this number of features. It is that of fit().
Tensor check_samples(const Tensor& x, int64_t features, std::string_view name);

/// Requires a setting of `least` or more. Throws Error.
void check_at_least(int64_t value, int64_t least, std::string_view setting, std::string_view name);

/// Throws Error if the estimator has no result of fit().
void check_fitted(bool fitted, std::string_view name);

/// Calls body(rows, begin) for consecutive rows of x, about 1 MiB each. The blocks depend only on
/// the shape of x.
void for_each_row_block(const Tensor& x,
                        const std::function<void(const Tensor& rows, int64_t begin)>& body);

/// The number of rows of a block of for_each_row_block().
int64_t rows_per_block(int64_t features);

/// The mean of each feature of x [n, features], from sums in double.
std::vector<double> feature_means(const Tensor& x);

/// An f32 tensor with these values.
Tensor tensor_from(const std::vector<double>& values, const Shape& shape, Device device);
/// The elements of an f32 or f64 tensor.
std::vector<double> doubles_from(const Tensor& t);

}  // namespace kaiseki::ml
