// SPDX-License-Identifier: MIT
// The directions of each solver, as stated in docs/tuning.md. Tests must have run all of them.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "matrix/backend/backend.h"
#include "matrix/conv/problem.h"
#include "matrix/conv/solver.h"

namespace kaiseki::test {

constexpr ConvDirection kDirections[] = {ConvDirection::forward, ConvDirection::backward_data,
                                         ConvDirection::backward_filter};

inline bool has_direction(std::string_view solver, ConvDirection direction, bool is_gpu) {
  static const std::set<std::string_view> no_filters{"pointwise", "implicit_gemm", "opencl_direct"},
      filters{"pointwise_filter", "outer_filter", "dot_filter", "opencl_direct_filter",
              "opencl_implicit_gemm_divided"};
  if (solver == "scatter_gemm") return direction == ConvDirection::backward_data;
  if (filters.contains(solver) || (is_gpu && solver == "opencl_depthwise"))
    return direction == ConvDirection::backward_filter;
  return direction != ConvDirection::backward_filter || !no_filters.contains(solver);
}

/// "winograd4x4_3x3 forward"
inline std::string run_name(std::string_view solver, ConvDirection direction) {
  return std::string(solver) + ' ' + std::string(direction_name(direction));
}

/// Returns the names of every solver of the device in every direction that it supports.
inline std::set<std::string> all_runs(Backend& backend) {
  std::set<std::string> runs;
  for (const ConvSolver* solver : backend.conv_solvers())
    for (ConvDirection direction : kDirections)
      if (has_direction(solver->name(), direction, backend.info().is_gpu))
        runs.insert(run_name(solver->name(), direction));
  return runs;
}

}  // namespace kaiseki::test
