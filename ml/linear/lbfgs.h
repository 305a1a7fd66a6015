// SPDX-License-Identifier: MIT
// L-BFGS (Liu and Nocedal, "On the limited memory BFGS method for large scale optimization", 1989)
// for functions whose values are computed in f32. Near the minimum, rounding hides the decrease of
// such a function. There the line search also accepts steps by their gradients (Hager and Zhang, "A
// new conjugate gradient method with guaranteed descent and an efficient line search", 2005).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace kaiseki::ml {

struct LbfgsOptions {
  int64_t max_iter = 100;
  double tol = 1e-4;     // of the largest |gradient|
  double value_tol = 0;  // of the relative decrease in a step; 0: no such rule
  double noise = 1e-7;   // the error of a value, relative to it
  int64_t memory = 10;   // number of steps that approximate the curvature
};

struct LbfgsResult {
  int64_t iterations = 0;
  double value = 0, largest_gradient = 0;
  /// Whether the gradient or the decrease reached its tolerance, or no step decreases the function
  /// beyond its noise.
  bool converged = false;
};

/// Returns the value at w, and writes the gradient.
using Objective =
    std::function<double(const std::vector<double>& w, std::vector<double>& gradient)>;

/// Starts at w, and leaves the minimum there.
LbfgsResult minimize_lbfgs(const Objective& objective, std::vector<double>& w,
                           const LbfgsOptions& options);

}  // namespace kaiseki::ml
