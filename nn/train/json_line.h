// SPDX-License-Identifier: MIT
// JsonLine: one JSON object on one line, for logs and benchmarks.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace kaiseki::nn {

/// JsonLine().add("step", 3).add("loss", 0.5).str() is {"step": 3, "loss": 0.5}. NaN and infinities
/// become null, bytes that are not UTF-8 become U+FFFD. Control characters are escaped.
class JsonLine {
 public:
  template <typename T>
  JsonLine& add(std::string_view key, const T& value) {
    text_ += text_.empty() ? "{" : ", ";
    append_string(key);
    text_ += ": ";
    if constexpr (std::is_same_v<T, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_floating_point_v<T>) {
      std::isfinite(value) ? append_number(value) : void(text_ += "null");
    } else if constexpr (std::is_integral_v<T>) {
      append_number(value);
    } else {
      append_string(value);
    }
    return *this;
  }
  std::string str() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  template <typename T>
  void append_number(T value) {
    char buffer[40];
    if constexpr (std::is_floating_point_v<T>)
      text_.append(
          buffer,
          std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 8).ptr);
    else
      text_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }
  void append_string(std::string_view value);
  std::string text_;
};

}  // namespace kaiseki::nn
