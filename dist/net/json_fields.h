// SPDX-License-Identifier: MIT
// Fields: reads the fields of a request's JSON object. Errors name the field.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace kaiseki::dist {

// Read a coordinator's answer. They return "" or 0 if the value is missing or of another type.
std::string text_of(const Json& json, std::string_view key);
int64_t integer_of(const Json& json, std::string_view key);

/// Reads a measurement. In messages 0 means that it is not known.
template <class T>
std::optional<T> measurement(T value) {
  return value > 0 ? std::optional<T>(value) : std::nullopt;
}

/// Every function throws ParseError("body", place, ...) if the value has another type.
class Fields {
 public:
  /// An empty text counts as an empty object.
  explicit Fields(std::string_view text);

  bool has(std::string_view name) const { return object_.find(name) != nullptr; }
  std::string text(std::string_view name, const std::string& otherwise) const;
  double number(std::string_view name, double otherwise, double least, double most) const;
  int64_t integer(std::string_view name, int64_t otherwise, int64_t least, int64_t most) const;
  bool boolean(std::string_view name, bool otherwise) const;
  std::vector<std::string> texts(std::string_view name, size_t most) const;
  /// A list of objects.
  std::vector<Fields> list(std::string_view name) const;
  [[noreturn]] void fail(std::string_view name, const std::string& what) const;

 private:
  Fields(Json object, std::string place) : object_(std::move(object)), place_(std::move(place)) {}
  const Json* find(std::string_view name, Json::Kind kind, const char* expected) const;

  Json object_;
  std::string place_;
};

}  // namespace kaiseki::dist
