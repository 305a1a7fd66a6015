// SPDX-License-Identifier: MIT
// Reductions of f64.
#pragma once

#include "matrix/backend/operations/reduce.h"

namespace kaiseki::cpu {

/// A sum is computed in pieces of a fixed size, so it does not depend on the number of threads.
void reduce_f64(const ReduceArgs& args);

}  // namespace kaiseki::cpu
