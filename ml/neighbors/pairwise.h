// SPDX-License-Identifier: MIT
// Distances of all pairs of samples.
#pragma once

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// f32 [n, m] for x [n, features] and y [m, features], on one device. The distances come from a
/// matrix product around the mean of y. Their squares have an error of about 1e-6 times the
/// squared distances from that mean. Throws ShapeError, also for NaN and infinity.
Tensor euclidean_distances(const Tensor& x, const Tensor& y, bool squared = false);
/// The same for y = x. The diagonal is exactly 0.
Tensor euclidean_distances(const Tensor& x, bool squared = false);

}  // namespace kaiseki::ml
