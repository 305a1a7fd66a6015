// SPDX-License-Identifier: MIT
// The limits of the pool's rules. docs/pool.md lists those that users meet.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kaiseki::dist {

inline constexpr int64_t kTrustedAfter = 10;       // valid results; until then all are checked
inline constexpr double kMostOutvoted = 3;         // votes that a node lost; then it is expelled
inline constexpr double kManyFailures = 10;        // recent ones; then a node holds one ticket
inline constexpr double kLongestRest = 60;         // seconds after a failure
inline constexpr double kTokenLife = 86400;        // seconds
inline constexpr uint64_t kMostInline = 16 << 10;  // bytes; a larger result is stored as a blob
inline constexpr double kAskSeconds = 2.5;  // a node that asked since then still wants tickets

}  // namespace kaiseki::dist
