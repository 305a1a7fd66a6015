// SPDX-License-Identifier: MIT
#include "base/json_line.h"

#include <algorithm>

#include "base/json.h"
#include "base/utf8.h"

namespace kaiseki {

void JsonLine::append_string(std::string_view value) {
  std::string text;
  while (!value.empty()) {
    const size_t bytes = first_character(value).bytes;
    text += bytes ? value.substr(0, bytes) : "\ufffd";
    value.remove_prefix(std::max<size_t>(1, bytes));
  }
  text_ += quote_json(text);
}

}  // namespace kaiseki
