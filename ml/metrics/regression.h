// SPDX-License-Identifier: MIT
// How well predictions agree with real targets.
#pragma once

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// How the values of several outputs become one: their mean, or their mean weighted by the variance
/// of each target.
enum class OutputAverage : uint8_t { uniform, variance_weighted };

/// The coefficient of determination, 1 - (sum of squared errors) / (sum of squares around the
/// mean). Both are f32 [n] or [n, outputs]. A constant target gives 1 if the predictions are exact,
/// else 0. For one sample the result is NaN. Throws ShapeError, also for NaN and infinity.
double r2_score(const Tensor& truth, const Tensor& predicted,
                OutputAverage average = OutputAverage::uniform);

/// The mean of the squared errors over samples and outputs. Both are f32 [n] or [n, outputs].
/// Throws ShapeError, also for NaN and infinity.
double mean_squared_error(const Tensor& truth, const Tensor& predicted);

}  // namespace kaiseki::ml
