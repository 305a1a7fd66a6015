// SPDX-License-Identifier: MIT
// Json values: look-up, messages, and writing them as text.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/hex.h"
#include "base/json.h"
#include "base/utf8.h"

namespace kaiseki {
namespace {

constexpr size_t kLineLength = 96;

bool is_plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

std::string number_text(double value) {
  char buffer[32];
  auto [end, error] = std::abs(value) < 1e15 && value == std::floor(value)
                          ? std::to_chars(buffer, buffer + 32, static_cast<int64_t>(value))
                          : std::to_chars(buffer, buffer + 32, value);
  return std::string(buffer, end);
}

std::string scalar(const Json& value) {
  switch (value.kind) {
    case Json::Kind::boolean:
      return value.boolean ? "true" : "false";
    case Json::Kind::number:
      return number_text(value.number);
    case Json::Kind::string:
      return quote_json(value.string);
    default:
      return "null";
  }
}

std::string format(const Json& value, size_t indent, size_t width) {
  const bool object = value.is(Json::Kind::object);
  if (!object && !value.is(Json::Kind::array)) return scalar(value);
  std::vector<std::string> parts;
  size_t length = indent;
  bool one_line = true;
  for (size_t i = 0; i < value.items.size(); ++i) {
    parts.push_back((object ? quote_json(value.keys[i]) + ": " : "") +
                    format(value.items[i], indent + 2, width));
    length += parts.back().size() + 2;
    one_line = one_line && parts.back().find('\n') == std::string::npos;
  }
  one_line = one_line && length < width;
  const std::string line = one_line ? "" : "\n" + std::string(indent + 2, ' ');
  std::string out(1, object ? '{' : '[');
  for (size_t i = 0; i < parts.size(); ++i)
    out += (i == 0 ? "" : one_line ? ", " : ",") + line + parts[i];
  if (!one_line) out += "\n" + std::string(indent, ' ');
  return out += object ? '}' : ']';
}

void append_compact(const Json& value, std::string& out) {
  const bool object = value.is(Json::Kind::object);
  if (!object && !value.is(Json::Kind::array)) {
    out += scalar(value);
    return;
  }
  out += object ? '{' : '[';
  for (size_t i = 0; i < value.items.size(); ++i) {
    if (i != 0) out += ',';
    if (object) out += quote_json(value.keys[i]) + ':';
    append_compact(value.items[i], out);
  }
  out += object ? '}' : ']';
}

}  // namespace

Json Json::array(std::vector<Json> items) {
  Json value;
  value.kind = Kind::array;
  value.items = std::move(items);
  return value;
}

Json Json::object() {
  Json value;
  value.kind = Kind::object;
  return value;
}

bool Json::is_integer() const {
  return kind == Kind::number && number == std::floor(number) && std::abs(number) < 0x1p53;
}

const Json* Json::find(std::string_view key) const {
  auto at = std::find(keys.begin(), keys.end(), key);
  return at == keys.end() ? nullptr : &items[static_cast<size_t>(at - keys.begin())];
}

Json& Json::set(std::string_view key, Json value) {
  auto at = std::find(keys.begin(), keys.end(), key);
  if (at != keys.end()) {
    items[static_cast<size_t>(at - keys.begin())] = std::move(value);
  } else {
    keys.emplace_back(key);
    items.push_back(std::move(value));
  }
  return *this;
}

std::string Json::describe() const {
  if (kind == Kind::array) return "a list";
  if (kind == Kind::object) return "an object";
  std::string text = scalar(*this);
  return text.size() <= 60 ? text : std::string(first_bytes(text, 57)) + "...";
}

std::string format_json(const Json& value) { return format(value, 0, kLineLength) + "\n"; }

std::string format_json_line(const Json& value) { return format(value, 0, std::string::npos); }

std::string format_json_compact(const Json& value) {
  std::string text;
  append_compact(value, text);
  return text;
}

std::string quote_json(std::string_view text) {
  constexpr std::string_view from = "\"\\\b\f\n\r\t", to = "\"\\bfnrt";
  std::string out = "\"";
  while (!text.empty()) {
    auto bytes =
        static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    out += text.substr(0, bytes);
    text.remove_prefix(bytes);
    if (text.empty()) break;
    const auto [length, code] = first_character(text);
    bytes = std::max<size_t>(1, length);
    if (const size_t i = from.find(text[0]); i != from.npos) {
      (out += '\\') += to[i];
    } else if (length != 0 && is_control(code)) {
      const std::byte unit[] = {std::byte(code >> 8), std::byte(code & 0xff)};
      out += "\\u" + to_hex(unit);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out += '"';
}

}  // namespace kaiseki
