// SPDX-License-Identifier: MIT
// Compares the first OpenCL device with the CPU backend, for tests that run kernels.
#pragma once

#include <functional>
#include <vector>

#include "tests/matrix/backend/opencl/support.h"
#include "tests/support/reference.h"

namespace kaiseki::test {

using Results = std::vector<Tensor>;

/// Runs `compute` in both styles. Both sides compute in the type of the result. They may differ by
/// a few units of the largest sums.
inline void compare(const std::function<Results(Device)>& compute) {
  auto* backend = opencl_or_null();
  if (!backend) return;
  Results expected = compute(Device::cpu());
  for (opencl::Style style : {opencl::Style::cpu, opencl::Style::gpu}) {
    WithStyle with(backend->opencl(), style);
    INFO("style of a ", style == opencl::Style::cpu ? "CPU" : "GPU");
    Results actual = compute(Device::opencl(0));
    for (size_t i = 0; i < expected.size(); ++i) {
      INFO("result ", i);
      const double allowed = expected[i].dtype() == DType::f32   ? 1e-5
                             : expected[i].dtype() == DType::f64 ? 1e-14
                                                                 : 0;
      check_close(actual[i], doubles(expected[i]), allowed, allowed);
    }
  }
}

}  // namespace kaiseki::test
