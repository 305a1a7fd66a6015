// SPDX-License-Identifier: MIT
// Max and average pooling on the CPU.
#pragma once

#include "matrix/backend.h"

namespace kaiseki::cpu {

void pool_forward(const PoolArgs& args);
void pool_backward(const PoolArgs& args);

}  // namespace kaiseki::cpu
