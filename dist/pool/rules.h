// SPDX-License-Identifier: MIT
// The limits of the pool's rules. docs/pool.md lists those that users meet.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dist/trust/check_policy.h"

namespace kaiseki::dist {

inline constexpr CheckPolicy kChecks = {};         // of results under adaptive verification
inline constexpr int64_t kClearMajority = 2;       // votes more than any other result has
inline constexpr double kMostOutvoted = 3;         // votes that a node lost; then it is expelled
inline constexpr double kManyFailures = 10;        // recent ones; then a node holds one ticket
inline constexpr double kLongestRest = 60;         // seconds after a failure
inline constexpr double kTokenLife = 86400;        // seconds
inline constexpr uint64_t kMostInline = 16 << 10;  // bytes; a larger result is stored as a blob
inline constexpr double kAskSeconds = 2.5;  // a node that asked since then still wants tickets

}  // namespace kaiseki::dist
