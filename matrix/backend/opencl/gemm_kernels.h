// SPDX-License-Identifier: MIT
// The ways to compute a matrix product on an OpenCL device, among which gemm_choice.h measures.
#pragma once

#include <span>
#include <string_view>

#include "matrix/backend.h"
#include "matrix/backend/opencl/device.h"

namespace kaiseki::opencl {

struct GemmCandidate {
  std::string_view name;
  bool (*applicable)(OpenclDevice& device, const GemmArgs& args);
  void (*run)(OpenclDevice& device, const GemmArgs& args);
};

/// All of them, the best guess for each style of device first; one of them applies to any product.
/// With the same candidate the same product has the same bits. On one device all candidates of ours
/// add up a product's terms in the same order, so that the choice among them changes no bits of a
/// sum; CLBlast has an order of its own.
std::span<const GemmCandidate> gemm_candidates(Style style);

/// One work-item an element: works for every product, k = 0 too.
void gemm_direct(OpenclDevice& device, const GemmArgs& args);

}  // namespace kaiseki::opencl
