// SPDX-License-Identifier: MIT
// The directions of each solver, as stated in docs/tuning.md. Tests must have run all of them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "matrix/backend/backend.h"
#include "matrix/conv/problem.h"
#include "matrix/conv/solver.h"

namespace kaiseki::test {

constexpr ConvDirection kDirections[] = {ConvDirection::forward, ConvDirection::backward_data,
                                         ConvDirection::backward_filter};

/// One line for each solver that lacks a direction. A solver without a line has all directions.
inline const auto& solvers_with_few_directions() {
  using enum ConvDirection;
  static const std::map<std::string_view, std::set<ConvDirection>> solvers{
      {"dot_filter", {backward_filter}},
      {"implicit_gemm", {forward, backward_data}},
      {"opencl_direct", {forward, backward_data}},
      {"opencl_direct_filter", {backward_filter}},
      {"opencl_implicit_gemm_divided", {backward_filter}},
      {"outer_filter", {backward_filter}},
      {"pointwise", {forward, backward_data}},
      {"pointwise_filter", {backward_filter}},
      {"scatter_gemm", {backward_data}},
  };
  return solvers;
}

inline bool has_direction(std::string_view solver, ConvDirection direction, bool is_gpu) {
  if (is_gpu && solver == "opencl_depthwise") return direction == ConvDirection::backward_filter;
  const auto found = solvers_with_few_directions().find(solver);
  return found == solvers_with_few_directions().end() || found->second.contains(direction);
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
