// SPDX-License-Identifier: MIT
// PoolEvent: the events that the pool counts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace kaiseki::dist {

enum class PoolEvent : uint8_t {
  accepted,
  beaten,
  dead,
  duplicate,
  expelled,
  expired,
  failed,
  given_back,
  joined,
  leases,
  leases_again,
  outvoted,
  pending,
  refused_expelled,
  refused_key,
  refused_size,
  refused_token,
  refused_wrong,
  rejoined,
  renewed,
  stale,
};

/// The names of the events in /metrics, in the order of the enumeration.
inline constexpr auto kPoolEvents = std::to_array<std::string_view>({
    "accepted", "beaten",           "dead",        "duplicate",    "expelled",      "expired",
    "failed",   "given_back",       "joined",      "leases",       "leases_again",  "outvoted",
    "pending",  "refused_expelled", "refused_key", "refused_size", "refused_token", "refused_wrong",
    "rejoined", "renewed",          "stale",
});
static_assert(kPoolEvents.size() == size_t{1} + static_cast<size_t>(PoolEvent::stale));
static_assert(std::ranges::is_sorted(kPoolEvents));

}  // namespace kaiseki::dist
