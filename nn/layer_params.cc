// SPDX-License-Identifier: MIT
#include "nn/layer_params.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace kaiseki::nn {
namespace {

/// Returns Levenshtein's distance of two names.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t next = std::min({row[j] + 1, row[j + 1] + 1, diagonal + (a[i] != b[j])});
      diagonal = row[j + 1];
      row[j + 1] = next;
    }
  }
  return row.back();
}

std::string range(const std::string& what, double low, double high) {
  return text_from(what, " from ", low, " to ", high);
}

}  // namespace

std::string suggestion(std::string_view name, const std::vector<std::string>& names) {
  const std::string* best = nullptr;
  size_t least = name.size() / 3 + 2;
  for (const std::string& candidate : names) {
    if (name.size() > 64) break;
    const size_t d = distance(name, candidate);
    if (d < least) {
      least = d;
      best = &candidate;
    }
  }
  return best ? ", did you mean \"" + *best + "\"?" : "";
}

LayerParams::LayerParams(const Json& object, std::string_view source, std::string_view path,
                         std::string_view layer, std::vector<std::string> known)
    : object_(object), source_(source), path_(path), layer_(layer), known_(std::move(known)) {}

void LayerParams::fail(std::string_view key, std::string_view expected,
                       std::string_view found) const {
  throw ParseError(source_, path_ + (key.empty() ? "" : ".") + std::string(key),
                   (layer_.empty() ? "" : "layer " + layer_ + ": ") + "expected " +
                       std::string(expected) + ", got " + std::string(found));
}

const Json* LayerParams::ask(std::string_view key, bool required, std::string_view expected) {
  known_.emplace_back(key);
  const Json* value = object_.find(key);
  if (!value && required) fail(key, expected, "nothing");
  return value;
}

int64_t LayerParams::checked(std::string_view key, const Json& value, int64_t low,
                             int64_t high) const {
  if (!value.is_integer() || value.number < static_cast<double>(low) ||
      value.number > static_cast<double>(high))
    fail(key, range("an integer", static_cast<double>(low), static_cast<double>(high)),
         value.describe());
  return static_cast<int64_t>(value.number);
}

int64_t LayerParams::integer(std::string_view key, std::optional<int64_t> otherwise, int64_t low,
                             int64_t high) {
  const Json* value = ask(key, !otherwise, "an integer");
  return value ? checked(key, *value, low, high) : *otherwise;
}

std::array<int64_t, 2> LayerParams::pair(std::string_view key,
                                         std::optional<std::array<int64_t, 2>> otherwise,
                                         int64_t low, int64_t high) {
  const Json* value = ask(key, !otherwise, "an integer or [vertical, horizontal]");
  if (!value) return *otherwise;
  if (!value->is(Json::Kind::array)) {
    const int64_t both = checked(key, *value, low, high);
    return {both, both};
  }
  if (value->items.size() != 2)
    fail(key, "two integers", "a list of " + std::to_string(value->items.size()));
  return {checked(key, value->items[0], low, high), checked(key, value->items[1], low, high)};
}

double LayerParams::number(std::string_view key, std::optional<double> otherwise, double low,
                           double high) {
  const Json* value = ask(key, !otherwise, "a number");
  if (!value) return *otherwise;
  if (!value->is(Json::Kind::number) || !(value->number >= low && value->number <= high))
    fail(key, range("a number", low, high), value->describe());
  return value->number;
}

bool LayerParams::boolean(std::string_view key, std::optional<bool> otherwise) {
  const Json* value = ask(key, !otherwise, "true or false");
  if (!value) return *otherwise;
  if (!value->is(Json::Kind::boolean)) fail(key, "true or false", value->describe());
  return value->boolean;
}

std::string LayerParams::switch_or(std::string_view key, std::optional<bool> otherwise,
                                   std::vector<std::string_view> choices) {
  const Json* value = object_.find(key);
  if (!value || value->is(Json::Kind::boolean))
    return boolean(key, otherwise) ? std::string(choices[0]) : "false";
  const std::string_view first = choices[0];
  return choice(key, first, std::move(choices));
}

std::string LayerParams::choice(std::string_view key, std::optional<std::string_view> otherwise,
                                std::vector<std::string_view> choices) {
  std::string expected = "one of";
  for (std::string_view name : choices) expected += " " + std::string(name);
  const Json* value = ask(key, !otherwise, expected);
  if (!value) return std::string(*otherwise);
  if (std::find(choices.begin(), choices.end(), value->string) == choices.end())
    fail(key, expected, value->describe());
  return value->string;
}

LayerParams LayerParams::nested(std::string_view key, const Json& object) const {
  return {object, source_, path_ + "." + std::string(key), layer_};
}

void LayerParams::finish() const {
  for (const std::string& key : object_.keys) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end())
      fail(key, layer_.empty() ? "a known key" : "a key of this layer",
           "\"" + key.substr(0, 64) + "\"" + suggestion(key, known_));
  }
}

}  // namespace kaiseki::nn
