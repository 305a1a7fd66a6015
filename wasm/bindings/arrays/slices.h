// SPDX-License-Identifier: MIT
// The text of a view, as NumPy writes it between brackets: "0:10:2, :, -1".
#pragma once

#include <string_view>
#include <vector>

#include "matrix/slice.h"

namespace kaiseki::wasm {

/// Positions, start:stop:step, None for a new axis, and at most one "...". It stands for the axes
/// of a tensor of this rank that have no index. Throws Error.
std::vector<AxisIndex> parse_slices(std::string_view text, int rank);

}  // namespace kaiseki::wasm
