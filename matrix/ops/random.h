// SPDX-License-Identifier: MIT
// Tensors of random numbers. The generator advances by the number of words used. The same seed
// gives the same numbers on every backend.
#pragma once

#include "matrix/random.h"
#include "matrix/tensor.h"

namespace kaiseki {

void random_uniform_into(Tensor& out, Random& random, float low = 0, float high = 1);
void random_normal_into(Tensor& out, Random& random, float mean = 0, float deviation = 1);
/// Sets elements to `value` with the given probability, otherwise to 0.
void random_bernoulli_into(Tensor& out, Random& random, float probability, float value = 1);

/// i32 from low to high - 1, where low < high <= low + 2^32 - 1. Values differ in probability by
/// less than 2^-32. Uses one word each. This and the functions below throw ShapeError.
Tensor randi(int64_t low, int64_t high, const Shape& shape, Random& random,
             Device device = default_device());
/// The numbers 0 to n-1 (i32) in random order (Fisher-Yates).
Tensor permutation(int64_t n, Random& random, Device device = default_device());
/// A copy of x with the elements along the axis in random order.
Tensor shuffle(const Tensor& x, Random& random, int axis = 0);
/// `count` of the numbers 0 to n-1 (i32). If `replace` is false, each occurs at most once.
Tensor choice(int64_t n, int64_t count, Random& random, bool replace = true,
              Device device = default_device());
/// `count` indices (i32) of the weights [n], each with a probability in proportion to its weight.
/// Weights are f32, 0 or more, and not all 0. Reads them on the host.
Tensor choice(const Tensor& weights, int64_t count, Random& random);

}  // namespace kaiseki
