// SPDX-License-Identifier: MIT
// The products of centered features.
#pragma once

#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// The sum over samples of (x - mean)(x - mean)^T: f64 [features, features] on the CPU. x is f32
/// [n, features] and is read in blocks. On the CPU products are in f64. On another device they are
/// in f32, and only sums of blocks are in f64.
Tensor centered_gram(const Tensor& x, const std::vector<double>& mean);

/// x - mean as f64 [n, features] on the CPU.
Tensor centered_doubles(const Tensor& x, const std::vector<double>& mean);

/// f64 on the CPU.
Tensor f64_tensor(const std::vector<double>& values, const Shape& shape);

}  // namespace kaiseki::ml
