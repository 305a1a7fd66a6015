// SPDX-License-Identifier: MIT
// The probability of a check. The pool's adaptive verification and training over the pool both
// select the results that they compute again by it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kaiseki::dist {

/// The probability with which the next result of a node is checked after `agreed` of its results
/// agreed: 1 / agreed, and at least `least`.
inline double check_probability(double least, int64_t agreed) {
  return std::max(least, agreed > 0 ? 1.0 / static_cast<double>(agreed) : 0.0);
}

}  // namespace kaiseki::dist
