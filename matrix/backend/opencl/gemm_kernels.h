// SPDX-License-Identifier: MIT
// The candidates for matrix products on an OpenCL device. gemm_choice.h measures and selects.
#pragma once

#include <span>
#include <string_view>

#include "matrix/backend/opencl/device.h"
#include "matrix/backend/operations/gemm.h"

namespace kaiseki::opencl {

struct GemmCandidate {
  std::string_view name;
  bool (*applicable)(OpenclDevice& device, const GemmArgs& args);
  void (*run)(OpenclDevice& device, const GemmArgs& args);
  bool is_own = true;  // false: with a different order of additions
};

/// Returns all candidates, ordered by expected speed for each style of device. At least one applies
/// to any product. The same candidate gives the same bits for the same product. On one device, the
/// library's own candidates add the terms in the same order. The choice among them therefore does
/// not change a sum. Candidates that are not `is_own` use a different order.
std::span<const GemmCandidate> gemm_candidates(Style style);

/// Uses one work-item per element. Supports every product, including k = 0.
void gemm_direct(OpenclDevice& device, const GemmArgs& args);

/// A product of f64. Not tuned: uses tiles if the device has room for them, else gemm_direct().
void gemm_f64(OpenclDevice& device, const GemmArgs& args);

}  // namespace kaiseki::opencl
