// SPDX-License-Identifier: MIT
// Measurements shipped with the library (shipped_table.inc, made by bench/ship_tuning), for
// machines that have not measured a convolution themselves.
#pragma once

#include <vector>

#include "matrix/tune/file.h"

namespace kaiseki {

/// Returns shipped results for the same convolution on the same kind of processor. They come from
/// the nearest minibatch and number of threads within a factor of four, scaled to those of `key`.
/// May be empty.
std::vector<TuningResult> shipped_tuning(const TuningKey& key);

}  // namespace kaiseki
