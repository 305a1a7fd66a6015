// SPDX-License-Identifier: MIT
// LayerParams: reads the settings of one layer from JSON, with defaults and bounds. finish()
// rejects every key that was not read.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "nn/settings.h"

namespace kaiseki::nn {

class LayerParams {
 public:
  /// `object` must live as long as this. `layer` is the name in messages. It is empty for settings
  /// that belong to no layer.
  LayerParams(const Json& object, std::string_view source, std::string_view path,
              std::string_view layer, std::vector<std::string> known = {});

  /// A key without a default is required. All throw ParseError with source, path and layer.
  int64_t integer(std::string_view key, std::optional<int64_t> otherwise, int64_t low = 1,
                  int64_t high = kMaxDimension);
  /// One number for both, or [vertical, horizontal].
  std::array<int64_t, 2> pair(std::string_view key, std::optional<std::array<int64_t, 2>> otherwise,
                              int64_t low, int64_t high = kMaxDimension);
  double number(std::string_view key, std::optional<double> otherwise, double low, double high);
  bool boolean(std::string_view key, std::optional<bool> otherwise);
  /// Reads true, false or one of the choices. true means the first choice. Returns "false" or the
  /// choice.
  std::string switch_or(std::string_view key, std::optional<bool> otherwise,
                        std::vector<std::string_view> choices);
  std::string choice(std::string_view key, std::optional<std::string_view> otherwise,
                     std::vector<std::string_view> choices);
  /// The value of a key, or null.
  const Json* optional(std::string_view key) { return ask(key, false, ""); }
  /// The same. A required key must have a value.
  const Json* value(std::string_view key, bool required, std::string_view expected) {
    return ask(key, required, expected);
  }
  /// Returns a reader for `object`, the value of a key. `object` must live as long as the result.
  LayerParams nested(std::string_view key, const Json& object) const;

  /// Throws ParseError for a key that was not read, and suggests the nearest key that was read.
  void finish() const;
  [[noreturn]] void fail(std::string_view key, std::string_view expected,
                         std::string_view found) const;

 private:
  const Json* ask(std::string_view key, bool required, std::string_view expected);
  int64_t checked(std::string_view key, const Json& value, int64_t low, int64_t high) const;

  const Json& object_;
  std::string source_, path_, layer_;
  std::vector<std::string> known_;
};

/// Returns ", did you mean \"stride\"?" if one of the names is similar, else "".
std::string suggestion(std::string_view name, const std::vector<std::string>& names);

}  // namespace kaiseki::nn
