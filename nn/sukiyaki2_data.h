// SPDX-License-Identifier: MIT
// The layers of a sukiyaki2 network that read data and prepare pictures. They give the shape of the
// network's input and its recipe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "matrix/shape.h"
#include "nn/layer_params.h"
#include "nn/recipe.h"

namespace kaiseki::nn {

class Sukiyaki2Data {
 public:
  explicit Sukiyaki2Data(std::string source) : source_(std::move(source)) {}

  /// Whether layers of this type read or prepare data.
  static bool reads(const std::string& type);
  /// Reads such a layer. Throws ParseError.
  void read(const std::string& type, const std::string& path,
            const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
            LayerParams& params);
  /// Returns the shape of a blob, [channels, height, width]. `known` has the shape that its reader
  /// states, with 0 for unknown sizes. Rank 0: a size is unknown, or the blob holds labels.
  Shape shape(const std::string& blob, const Shape& known) const;
  /// The resize, std and augmentation of the data_augmentation layers.
  const Recipe& recipe() const { return recipe_; }

 private:
  [[noreturn]] void fail(const std::string& path, const std::string& expected,
                         const std::string& found) const;
  Shape sizes(LayerParams& params, const char* key, int least, int most) const;
  void define(const std::string& blob, const Shape& shape, const std::string& path);
  void augment(const std::string& path, const std::string& from, const std::string& to,
               LayerParams& params);

  std::string source_;
  std::map<std::string, Shape> pictures_;  // [channels, height, width], 0 for unknown
  std::map<std::string, bool> labels_;
  std::optional<double> scale_;
  Recipe recipe_;
};

}  // namespace kaiseki::nn
