// SPDX-License-Identifier: MIT
// The products of centered features.
#pragma once

#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// The sum over samples of (x - mean)(x - mean)^T: f64 [features, features] on the CPU. x is f32
/// [n, features] and is read in blocks. On the CPU products are in f64. On another device they and
/// their sum are in f32.
Tensor centered_gram(const Tensor& x, const std::vector<double>& mean);

/// The same with products in f32 on the CPU, too, which is faster. Sums of blocks are in f64 there.
Tensor centered_gram_f32(const Tensor& x, const std::vector<double>& mean);

/// x - mean as f64 [n, features] on the CPU.
Tensor centered_doubles(const Tensor& x, const std::vector<double>& mean);

/// The sum of a^T b over blocks. On the CPU products are f32 and the sum is f64. On another device
/// both are f32, and only the sum comes to the host.
class ProductSum {
 public:
  ProductSum(const Shape& shape, Device device);
  void add(const Tensor& a, const Tensor& b);
  const std::vector<double>& total() {
    flush();
    return total_;
  }

 private:
  void flush();

  Tensor part_;
  bool pending_ = false;
  std::vector<double> total_;
};

/// f64 on the CPU.
Tensor f64_tensor(const std::vector<double>& values, const Shape& shape);

}  // namespace kaiseki::ml
