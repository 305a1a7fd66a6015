// SPDX-License-Identifier: MIT
// Silhouettes (Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of
// cluster analysis", 1987), with Euclidean distances.
#pragma once

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// f32 [n]: (b - a) / max(a, b) for each sample. a is the mean distance to the other samples of its
/// cluster. b is the smallest mean distance to the samples of another cluster. A cluster of one
/// sample gives 0. x is f32 [n, features], labels is i32 [n]. Throws ShapeError, also unless there
/// are 2 to n - 1 clusters.
Tensor silhouette_samples(const Tensor& x, const Tensor& labels);

/// The mean of silhouette_samples().
double silhouette_score(const Tensor& x, const Tensor& labels);

}  // namespace kaiseki::ml
