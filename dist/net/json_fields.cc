// SPDX-License-Identifier: MIT
#include "dist/net/json_fields.h"

#include <cmath>
#include <sstream>

#include "base/error.h"

namespace kaiseki::dist {

std::string text_of(const Json& json, std::string_view key) {
  const Json* value = json.find(key);
  return value ? value->string : "";
}

int64_t integer_of(const Json& json, std::string_view key) {
  const Json* value = json.find(key);
  return value && std::abs(value->number) < 0x1p63 ? static_cast<int64_t>(value->number) : 0;
}

Fields::Fields(std::string_view text)
    : object_(text.empty() ? Json::object() : parse_json(text, "body")) {
  if (!object_.is(Json::Kind::object))
    throw ParseError("body", "line 1", "expected an object, got " + object_.describe());
}

void Fields::fail(std::string_view name, const std::string& what) const {
  throw ParseError("body", place_ + std::string(name), what);
}

const Json* Fields::find(std::string_view name, Json::Kind kind, const char* expected) const {
  const Json* value = object_.find(name);
  if (value && !value->is(kind))
    fail(name, std::string("expected ") + expected + ", got " + value->describe());
  return value;
}

std::string Fields::text(std::string_view name, const std::string& otherwise) const {
  const Json* value = find(name, Json::Kind::string, "a text");
  return value ? value->string : otherwise;
}

double Fields::number(std::string_view name, double otherwise, double least, double most) const {
  const Json* value = find(name, Json::Kind::number, "a number");
  if (!value) return otherwise;
  if (!(value->number >= least && value->number <= most)) {
    std::ostringstream expected;
    expected << "expected " << least << " to " << most << ", got " << value->describe();
    fail(name, expected.str());
  }
  return value->number;
}

int64_t Fields::integer(std::string_view name, int64_t otherwise, int64_t least,
                        int64_t most) const {
  if (!has(name)) return otherwise;
  const double value = number(name, 0, static_cast<double>(least), static_cast<double>(most));
  if (!object_.find(name)->is_integer()) fail(name, "expected a whole number");
  return static_cast<int64_t>(value);
}

bool Fields::boolean(std::string_view name, bool otherwise) const {
  const Json* value = find(name, Json::Kind::boolean, "true or false");
  return value ? value->boolean : otherwise;
}

std::vector<std::string> Fields::texts(std::string_view name, size_t most) const {
  std::vector<std::string> texts;
  const Json* value = find(name, Json::Kind::array, "a list of texts");
  if (!value) return texts;
  if (value->items.size() > most) fail(name, "expected at most " + std::to_string(most));
  for (const Json& one : value->items) {
    if (!one.is(Json::Kind::string)) fail(name, "expected texts, got " + one.describe());
    texts.push_back(one.string);
  }
  return texts;
}

std::vector<Fields> Fields::list(std::string_view name) const {
  std::vector<Fields> all;
  const Json* value = find(name, Json::Kind::array, "a list of objects");
  if (!value) fail(name, "expected a list of objects, got nothing");
  for (const Json& one : value->items) {
    const std::string place = place_ + std::string(name) + "[" + std::to_string(all.size()) + "]";
    if (!one.is(Json::Kind::object))
      throw ParseError("body", place, "expected an object, got " + one.describe());
    all.push_back(Fields(one, place + "."));
  }
  return all;
}

}  // namespace kaiseki::dist
