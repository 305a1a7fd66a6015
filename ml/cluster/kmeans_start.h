// SPDX-License-Identifier: MIT
// The first centers of k-means.
#pragma once

#include "matrix/random.h"
#include "ml/cluster/centered_rows.h"
#include "ml/cluster/device_rows.h"

namespace kaiseki::ml {

/// k-means++ (Arthur and Vassilvitskii, 2007). Each step draws 2 + log(k) samples with a
/// probability proportional to the squared distance from the nearest center. It keeps the one with
/// the least sum of those distances, as scikit-learn does. 1 <= count <= x.count().
Centers kmeans_plus_plus(const CenteredRows& x, int64_t count, Random& random);
/// The same on a device. Rounding may select another sample than on the CPU.
Centers kmeans_plus_plus(const DeviceRows& x, int64_t count, Random& random);

/// Different samples, each with the same probability.
Centers random_samples(const CenteredRows& x, int64_t count, Random& random);
Centers random_samples(const DeviceRows& x, int64_t count, Random& random);

}  // namespace kaiseki::ml
