// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

namespace kaiseki {

/// a / b rounded up, for a >= 0 and b > 0.
constexpr auto ceil_div(std::integral auto a, std::integral auto b) { return (a + b - 1) / b; }

/// The least multiple of b that is a or more, for a >= 0 and b > 0.
constexpr auto round_up(std::integral auto a, std::integral auto b) { return ceil_div(a, b) * b; }

}  // namespace kaiseki
