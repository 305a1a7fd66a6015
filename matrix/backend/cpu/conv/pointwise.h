// SPDX-License-Identifier: MIT
// Filters of one element as plain matrix products: forward, backward-data and backward-filter. The
// columns of all samples of a batch are joined, so that small planes fill whole tiles. Any stride
// and groups; no padding.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

/// Forward and backward-data.
const ConvSolver& pointwise_solver();
/// Backward-filter.
const ConvSolver& pointwise_filter_solver();

}  // namespace kaiseki
