// SPDX-License-Identifier: MIT
// The kernel functions of support vector machines, for blocks of samples.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

enum class SvmKernel : uint8_t {
  linear,  // x y
  poly,    // (gamma x y + coef0)^degree
  rbf,     // exp(-gamma |x - y|^2)
};

/// `scale`: 1 / (features * variance of all elements of x). `automatic`: 1 / features.
enum class GammaRule : uint8_t { scale, automatic };

/// A rule, or a number of 0 or more.
struct Gamma {
  Gamma(GammaRule chosen) : rule(chosen) {}
  Gamma(double number) : is_number(true), value(number) {}

  bool is_number = false;
  double value = 0;
  GammaRule rule = GammaRule::scale;
};

/// The number, or "scale" or "auto".
std::ostream& operator<<(std::ostream& out, const Gamma& gamma);

/// A kernel with its numbers. `shift` is subtracted from the samples, because products of small
/// numbers are more exact in f32. Distances do not depend on it. For a linear kernel, only the
/// intercept does, because the sum of the coefficients is 0.
struct KernelFunction {
  SvmKernel kind = SvmKernel::rbf;
  double gamma = 1, coef0 = 0;
  int64_t degree = 3;
  std::vector<double> shift;  // [features]; empty for poly
};

struct KernelOptions {
  SvmKernel kernel;
  Gamma gamma;
  double coef0;
  int64_t degree;
};

/// Throws ShapeError for a gamma or a degree below 0, and for numbers that are not finite.
void check_kernel(const KernelOptions& options, std::string_view name);
/// The function for the samples x [n, features].
KernelFunction kernel_function(const KernelOptions& options, const Tensor& x);

/// Samples in the form that products need, on their device.
struct KernelSamples {
  Tensor rows;   // f32 [n, features], without the shift
  Tensor norms;  // f32 [n]: -gamma |row|^2; only for rbf

  KernelSamples slice(int64_t begin, int64_t count) const;
};
KernelSamples kernel_samples(const KernelFunction& function, const Tensor& x);
/// The same, but overwrites x, which must be contiguous, instead of copying it.
KernelSamples kernel_samples_in_place(const KernelFunction& function, Tensor x);

/// f32 [rows of a, rows of b]: the kernel of each pair, by one matrix product.
Tensor kernel_block(const KernelFunction& function, const KernelSamples& a, const KernelSamples& b);
/// The kernel of each sample with itself.
std::vector<double> kernel_diagonal(const KernelFunction& function, const KernelSamples& samples);

}  // namespace kaiseki::ml
