// SPDX-License-Identifier: MIT
// Tensors of random numbers. The generator advances by the number of words used. The same seed
// gives the same numbers on every backend.
#pragma once

#include "matrix/random.h"
#include "matrix/tensor.h"

namespace kaiseki {

void random_uniform(Tensor& out, Random& random, float low = 0, float high = 1);
void random_normal(Tensor& out, Random& random, float mean = 0, float deviation = 1);
/// Sets elements to `value` with the given probability, otherwise to 0.
void random_bernoulli(Tensor& out, Random& random, float probability, float value = 1);

}  // namespace kaiseki
