// SPDX-License-Identifier: MIT
// Distances of all pairs of samples.
#pragma once

#include <cstdint>

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// f32 [n, m] for x [n, features] and y [m, features], on one device. The distances come from a
/// matrix product around the mean of y. Their squares have an error of about 1e-6 times the
/// squared distances from that mean. Throws ShapeError, also for NaN and infinity.
Tensor euclidean_distances(const Tensor& x, const Tensor& y, bool squared = false);
/// The same for y = x. The diagonal is exactly 0.
Tensor euclidean_distances(const Tensor& x, bool squared = false);
/// f32 [n, m]: the sums of the absolute differences of the features.
Tensor manhattan_distances(const Tensor& x, const Tensor& y);
/// f32 [n, m]: 1 minus the cosine of the angle between x and y. A sample of zeros has the distance
/// 1 from every sample, as in scikit-learn.
Tensor cosine_distances(const Tensor& x, const Tensor& y);

enum class Metric : uint8_t { euclidean, squared_euclidean, manhattan, cosine };
/// The distances of this metric.
Tensor pairwise_distances(const Tensor& x, const Tensor& y, Metric metric = Metric::euclidean);

}  // namespace kaiseki::ml
