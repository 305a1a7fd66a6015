// SPDX-License-Identifier: MIT
// Convolution and its gradients by plain loops in double: the reference for solvers.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "matrix/conv/solver.h"
#include "matrix/tensor.h"
#include "tests/support/loops.h"
#include "tests/support/reference.h"

namespace kaiseki::test {

/// The results for one problem. For each result also the sum of absolute products, which bounds the
/// error of a float result.
struct ConvReference {
  Doubles y, dx, dfilter, y_size, dx_size, dfilter_size;
};

inline ConvReference conv_reference(const ConvProblem& p, const Doubles& x, const Doubles& filter,
                                    const Doubles& dy) {
  ConvReference out;
  out.y = out.y_size = Doubles(static_cast<size_t>(p.n * p.k * p.out_h() * p.out_w()));
  out.dx = out.dx_size = Doubles(x.size());
  out.dfilter = out.dfilter_size = Doubles(filter.size());
  conv_loops(p, {x.data(), filter.data(), dy.data(), out.y.data(), out.y_size.data(), out.dx.data(),
                 out.dx_size.data(), out.dfilter.data(), out.dfilter_size.data()});
  return out;
}

/// A workspace filled with NaN, so that a read of unwritten values shows. Returns an undefined
/// tensor for 0 bytes.
inline Tensor nan_workspace(uint64_t bytes, Device device) {
  if (bytes == 0) return {};
  const auto floats = static_cast<int64_t>((bytes + sizeof(float) - 1) / sizeof(float));
  return Tensor::full({floats}, NAN, device).reinterpret(DType::u8);
}

inline void run_solver(const ConvSolver& solver, const ConvProblem& problem, ConvArgs args,
                       Device device) {
  Tensor workspace = nan_workspace(solver.workspace_bytes(problem), device);
  if (workspace.defined()) args.workspace = &workspace;
  solver.run(problem, args);
}

/// A float sum in any order has an error below (number of terms) * epsilon * (sum of absolute
/// products). Measured errors are about the square root of that. 64 epsilon and one rounding of the
/// result are therefore ample. A solver that mixes neighboring sums, like Winograd's, has the error
/// that the largest sum allows.
inline void check_sums(const Tensor& actual, const Doubles& expected, const Doubles& size,
                       bool mixed = false) {
  const Doubles values = doubles(actual);
  REQUIRE(values.size() == expected.size());
  const double largest = size.empty() ? 0 : *std::max_element(size.begin(), size.end());
  for (size_t i = 0; i < values.size(); ++i) {
    const double allowed = 1.2e-7 * (64 * (mixed ? largest : size[i]) + std::abs(expected[i]));
    if (std::abs(values[i] - expected[i]) <= allowed) continue;
    INFO("element " << i << ": " << values[i] << ", expected " << expected[i] << " within "
                    << allowed);
    FAIL_CHECK("values differ");
    return;
  }
}

}  // namespace kaiseki::test
