// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

namespace kaiseki::nn {

/// A prediction for the tensors of a pass. It leaves out parameters, their gradients and workspace.
struct PassPrediction {
  uint64_t on_device = 0;            // bytes
  uint64_t leaves = 0;               // bytes that are copied from the device
  bool is_out_of_core = false;       // tensors leave the device, or steps run in pieces
  std::optional<double> bound = {};  // seconds that no plan can go below
};

}  // namespace kaiseki::nn
