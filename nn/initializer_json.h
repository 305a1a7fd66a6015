// SPDX-License-Identifier: MIT
// Reads an initializer from JSON: "he", or {"type": "normal", "mean": 0, "deviation": 1}.
#pragma once

#include "nn/initializer.h"
#include "nn/layer_params.h"

namespace kaiseki::nn {

/// Returns the initializer under `key`, or `otherwise` if there is none. If `otherwise` has no
/// value, the key is required. Throws ParseError.
Initializer read_initializer(LayerParams& params, std::string_view key,
                             const std::optional<Initializer>& otherwise);

}  // namespace kaiseki::nn
