// SPDX-License-Identifier: MIT
// Measurements that come with the library (shipped_tuning.inc, made by bench/ship_tuning), for
// machines that have not measured a convolution themselves.
#pragma once

#include <vector>

#include "matrix/tuning_file.h"

namespace kaiseki {

/// Of the same convolution on the same kind of processor, from the nearest minibatch and number of
/// threads within a factor of four, scaled to the one asked for. Empty where there is none.
std::vector<TuningResult> shipped_tuning(const TuningKey& key);

}  // namespace kaiseki
