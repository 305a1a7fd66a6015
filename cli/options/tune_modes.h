// SPDX-License-Identifier: MIT
// The values of --tune.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "matrix/tune/policy.h"

namespace kaiseki::cli {

inline constexpr std::pair<std::string_view, TuneMode> kTuneModes[] = {
    {"off", TuneMode::off},
    {"cached", TuneMode::cached},
    {"hybrid", TuneMode::hybrid},
    {"exhaustive", TuneMode::exhaustive},
    {"amortized", TuneMode::amortized}};

inline std::vector<std::string> tune_mode_names() {
  std::vector<std::string> names;
  for (const auto& [name, mode] : kTuneModes) names.emplace_back(name);
  return names;
}

/// `name` must be in the table.
inline TuneMode tune_mode(std::string_view name) {
  return std::ranges::find(kTuneModes, name, &std::pair<std::string_view, TuneMode>::first)->second;
}

}  // namespace kaiseki::cli
