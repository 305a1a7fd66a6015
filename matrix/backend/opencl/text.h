// SPDX-License-Identifier: MIT
// Helpers that build kernel sources, options and keys.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace kaiseki::opencl {

/// The parts in one string.
inline std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text.append(part);
  return text;
}

/// "x3"
inline std::string numbered(std::string_view name, size_t number) {
  return joined({name, std::to_string(number)});
}

}  // namespace kaiseki::opencl
