// SPDX-License-Identifier: MIT
// Text from values of several types, for messages, and numbers from text. Unlike streams, this
// ignores the locale and is cheap to compile and to link.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace kaiseki {

inline void append_text(std::string& out, std::string_view text) { out += text; }
inline void append_text(std::string& out, char letter) { out += letter; }
/// Appends the number with six significant digits, as printf's %g.
void append_text(std::string& out, double value);
inline void append_text(std::string& out, float value) {
  append_text(out, static_cast<double>(value));
}

template <std::integral T>
void append_text(std::string& out, T value) {
  if constexpr (std::same_as<T, bool>) {
    out += value ? '1' : '0';
  } else {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
}

/// A type with str(), such as Shape.
template <typename T>
requires requires(const T& value) { std::string_view(value.str()); }
void append_text(std::string& out, const T& value) { out += value.str(); }

/// Returns the texts of all arguments, one after the other.
template <typename... Args>
std::string text_from(const Args&... args) {
  std::string out;
  (append_text(out, args), ...);
  return out;
}

/// The number if the whole text is one that T can hold. Spaces and a leading + are not accepted.
template <typename T>
requires std::integral<T> || std::floating_point<T> std::optional<T> parse_number(
    std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// As parse_number<double>(), but the text may begin with +. A number too close to 0 is 0. One that
/// is too large is the largest double.
std::optional<double> parse_decimal(std::string_view text);

/// The text without the characters of `space` at both ends.
constexpr std::string_view trimmed(std::string_view text, std::string_view space = " \r\t") {
  const size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

}  // namespace kaiseki
