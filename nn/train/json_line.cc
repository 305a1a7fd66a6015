// SPDX-License-Identifier: MIT
#include "nn/train/json_line.h"

#include <algorithm>
#include <cstdio>

#include "base/utf8.h"

namespace kaiseki::nn {

void JsonLine::append_string(std::string_view value) {
  constexpr char32_t kReplacement = 0xfffd;
  text_ += '"';
  while (!value.empty()) {
    const auto [bytes, code] = first_character(value);
    if (bytes == 0 || is_control(code)) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x",
                    static_cast<unsigned>(bytes ? code : kReplacement));
      text_ += escaped;
    } else {
      if (code == '"' || code == '\\') text_ += '\\';
      text_ += value.substr(0, bytes);
    }
    value.remove_prefix(std::max<size_t>(1, bytes));
  }
  text_ += '"';
}

}  // namespace kaiseki::nn
