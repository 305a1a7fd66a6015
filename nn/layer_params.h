// SPDX-License-Identifier: MIT
// LayerParams: reads the settings of one layer from JSON, with defaults and bounds. What is asked
// for is what is allowed: finish() refuses every other key.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nn/initializer.h"
#include "nn/json.h"

namespace kaiseki::nn {

/// The largest dimension, stride or count that a network may name.
inline constexpr int64_t kMaxDimension = 1 << 24;

class LayerParams {
 public:
  /// `object` must live as long as this; `layer` is what messages call it.
  LayerParams(const Json& object, std::string_view source, std::string_view path,
              std::string_view layer, std::vector<std::string> known = {});

  /// A default makes the key optional. All throw ParseError naming source, path and layer.
  int64_t integer(std::string_view key, std::optional<int64_t> otherwise, int64_t low = 1,
                  int64_t high = kMaxDimension);
  /// One number for both, or [vertical, horizontal].
  std::array<int64_t, 2> pair(std::string_view key, std::optional<std::array<int64_t, 2>> otherwise,
                              int64_t low, int64_t high = kMaxDimension);
  double number(std::string_view key, std::optional<double> otherwise, double low, double high);
  bool boolean(std::string_view key, bool otherwise);
  /// true or false, or one of the choices (true is the first): "false" or the choice.
  std::string switch_or(std::string_view key, std::vector<std::string_view> choices);
  std::string choice(std::string_view key, std::string_view otherwise,
                     std::vector<std::string_view> choices);
  Initializer initializer(std::string_view key, const Initializer& otherwise);

  /// Throws ParseError for a key that was never asked for, with the nearest one that was.
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

/// ", did you mean \"stride\"?" when one of the names is near, else "".
std::string suggestion(std::string_view name, const std::vector<std::string>& names);

}  // namespace kaiseki::nn
