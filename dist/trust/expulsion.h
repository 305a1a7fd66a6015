// SPDX-License-Identifier: MIT
// ExpulsionReason: the reason for which a node is expelled, as a kind and a text for people.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kaiseki::dist {

enum class ExpulsionKind : uint8_t {
  other,        // `detail` says all
  wrong_value,  // training computed another result
  wrong_form,   // training got other shapes, types or names, or an unreadable result
  not_finite,   // training got NaN or infinity
};

/// The names by kind. The HTTP API and the metrics use them.
inline constexpr std::array<std::string_view, 4> kExpulsionKinds = {"other", "wrong_value",
                                                                    "wrong_form", "not_finite"};

inline std::string_view name_of(ExpulsionKind kind) {
  return kExpulsionKinds[static_cast<size_t>(kind)];
}

inline std::optional<ExpulsionKind> find_expulsion_kind(std::string_view name) {
  const auto found = std::ranges::find(kExpulsionKinds, name);
  if (found == kExpulsionKinds.end()) return std::nullopt;
  return static_cast<ExpulsionKind>(found - kExpulsionKinds.begin());
}

struct ExpulsionReason {
  std::string detail;
  ExpulsionKind kind = ExpulsionKind::other;

  /// For logs, the console and the node. Code reads `kind` instead.
  std::string text() const {
    if (kind == ExpulsionKind::other) return detail;
    std::string words(name_of(kind));
    std::replace(words.begin(), words.end(), '_', ' ');
    return words + ": " + detail;
  }
};

}  // namespace kaiseki::dist
