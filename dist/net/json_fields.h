// SPDX-License-Identifier: MIT
// Fields: an object of a request's body, read field by field with errors that name the place.
#pragma once

#include <string>
#include <vector>

#include "nn/json.h"

namespace kaiseki::dist {

// Of what a coordinator says: "" and 0 where nothing fitting is there.
std::string text_of(const nn::Json& json, std::string_view key);
int64_t integer_of(const nn::Json& json, std::string_view key);

/// Every function throws ParseError("body", place, ...) where the value is of another kind.
class Fields {
 public:
  /// An empty text is an empty object.
  explicit Fields(std::string_view text);

  bool has(std::string_view name) const { return object_.find(name) != nullptr; }
  std::string text(std::string_view name, std::string otherwise) const;
  double number(std::string_view name, double otherwise, double least, double most) const;
  int64_t integer(std::string_view name, int64_t otherwise, int64_t least, int64_t most) const;
  bool boolean(std::string_view name, bool otherwise) const;
  std::vector<std::string> texts(std::string_view name, size_t most) const;
  /// A list of objects.
  std::vector<Fields> list(std::string_view name) const;
  [[noreturn]] void fail(std::string_view name, const std::string& what) const;

 private:
  Fields(nn::Json object, std::string place)
      : object_(std::move(object)), place_(std::move(place)) {}
  const nn::Json* find(std::string_view name, nn::Json::Kind kind, const char* expected) const;

  nn::Json object_;
  std::string place_;
};

}  // namespace kaiseki::dist
