// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <cmath>
#include <cstdlib>
#include <limits>

namespace kaiseki {

void append_text(std::string& out, double value) {
  char digits[32];
  constexpr int kPrecision = 6;
  const auto written =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, kPrecision);
  out.append(digits, written.ptr);
}

std::optional<double> parse_decimal(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return {};
  if (error == std::errc::result_out_of_range) {
    const bool is_small = std::abs(std::strtod(std::string(text).c_str(), nullptr)) < 1;
    value = is_small ? 0 : std::numeric_limits<double>::max();
    return text.starts_with('-') ? -value : value;
  }
  if (error != std::errc()) return {};
  return value;
}

}  // namespace kaiseki
