// SPDX-License-Identifier: MIT
// Numbers as text in the metadata of checkpoints. The text keeps every bit.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::nn {

inline void put(Metadata& state, const std::string& key, std::string_view value) {
  state[key] = value;
}

template <typename T>
void put(Metadata& state, const std::string& key, T value) requires std::is_arithmetic_v<T> {
  char text[64];
  auto [end, error] = std::to_chars(text, text + sizeof text, value);
  state[key] = std::string(text, end);
}

/// Throws Error with the key if it is missing or not a number.
template <typename T>
T get(const Metadata& state, const std::string& key) {
  auto found = state.find(key);
  if (found == state.end())
    throw Error(message("checkpoint", "expected the key '", key, "', got none"));
  const std::string& text = found->second;
  const std::optional<T> value = parse_number<T>(text);
  if (!value)
    throw Error(message("checkpoint", "expected a number for '", key, "', got '", text, "'"));
  return *value;
}

/// Throws Error unless the key has this value.
inline void expect(const Metadata& state, const std::string& key, std::string_view value) {
  auto found = state.find(key);
  if (found == state.end() || found->second != value)
    throw Error(message("checkpoint", "expected ", key, " ", value, " as in this run, got ",
                        found == state.end() ? "none" : found->second));
}

}  // namespace kaiseki::nn
