// SPDX-License-Identifier: MIT
#include "base/text.h"

namespace kaiseki {

void append_text(std::string& out, double value) {
  char digits[32];
  constexpr int kPrecision = 6;
  const auto written =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, kPrecision);
  out.append(digits, written.ptr);
}

}  // namespace kaiseki
