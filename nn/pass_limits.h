// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

#include "matrix/cost/rates.h"
#include "nn/step_times.h"

namespace kaiseki::nn {

/// The memory and the rates that a pass has.
struct PassLimits {
  int64_t batch = 0;
  /// Bytes of the pass's tensors. With a link, also of `slots`, and of weights and gradients that
  /// can leave.
  uint64_t room = 0;
  uint64_t slots = 0;  // bytes of tensors that can leave and that the pass does not use
  DeviceRates rates = {};
  std::function<uint64_t(uint64_t)> rounded;  // Allocator::rounded()
  KnownSeconds known_seconds = {};
};

}  // namespace kaiseki::nn
