// SPDX-License-Identifier: MIT
// Json: a parsed JSON document as a plain tree (RFC 8259), for networks and their weights.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kaiseki {

struct Json {
  enum class Kind : uint8_t { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;
  std::string string;
  std::vector<Json> items;        // of an array, or the values of an object
  std::vector<std::string> keys;  // of an object, in the order of the text

  Json() = default;
  Json(bool value) : kind(Kind::boolean), boolean(value) {}
  Json(double value) : kind(Kind::number), number(value) {}
  Json(int value) : Json(static_cast<double>(value)) {}
  Json(int64_t value) : Json(static_cast<double>(value)) {}
  Json(std::string value) : kind(Kind::string), string(std::move(value)) {}
  Json(const char* value) : Json(std::string(value)) {}
  static Json array(std::vector<Json> items = {});
  static Json object();

  bool is(Kind k) const { return kind == k; }
  bool is_integer() const;
  /// The value of a key, or nullptr.
  const Json* find(std::string_view key) const;
  /// Adds a key, or replaces its value. Returns *this.
  Json& set(std::string_view key, Json value);
  /// "an object", "the string \"relu\"", "3": for messages.
  std::string describe() const;
  bool operator==(const Json& other) const = default;
};

/// Accepts at most 64 levels and 200,000 values, and each key once. Braces around values without
/// keys are a list, as in figure 5 of the Sukiyaki paper. Throws ParseError(source, "line N").
Json parse_json(std::string_view text, std::string_view source);

/// Writes short arrays and objects on one line.
std::string format_json(const Json& value);
/// Writes everything on one line, without a line end.
std::string format_json_line(const Json& value);
/// As format_json_line(), without spaces.
std::string format_json_compact(const Json& value);
/// The text in quotes. Escapes quotes, backslashes and control characters (is_control()). Bytes
/// that are not UTF-8 stay.
std::string quote_json(std::string_view text);

}  // namespace kaiseki
