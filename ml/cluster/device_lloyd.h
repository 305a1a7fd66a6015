// SPDX-License-Identifier: MIT
// k-means on the device of the samples. In an iteration only the sums and the sizes of clusters
// come to the host.
#pragma once

#include "ml/cluster/device_rows.h"
#include "ml/cluster/lloyd.h"

namespace kaiseki::ml {

/// The iteration without bounds. If a cluster becomes empty, n distances also come to the host.
LloydResult lloyd(const DeviceRows& x, Centers centers, const LloydOptions& options);

}  // namespace kaiseki::ml
