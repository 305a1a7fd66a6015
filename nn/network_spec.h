// SPDX-License-Identifier: MIT
// NetworkSpec: the layers of a network and their settings, before shapes are known. All formats of
// networks are read into it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "matrix/shape.h"
#include "nn/io/named_tensor.h"
#include "nn/phase.h"
#include "nn/recipe.h"

namespace kaiseki::nn {

/// A size that the JSON repeats: dimension `axis` of the layer's input or output. Without an axis,
/// the number of its elements.
struct SizeCheck {
  std::string path;  // "layer_params[1].params.input_rows"
  bool of_output = false;
  std::optional<int> axis;
  int64_t value = 0;
};

/// Values of one parameter or state in the network's file.
struct InlineWeights {
  std::string parameter;  // "weight"
  std::string path;
  std::vector<float> values;
};

struct LayerSpec {
  std::string name, type = {}, path;
  std::vector<std::string> inputs = {};
  std::optional<Phase> phase = {};  // in the other phase the layer is skipped
  Json params = Json::object();
  std::vector<SizeCheck> checks = {};
  std::vector<InlineWeights> weights = {};
};

struct InputSpec {
  std::string name, path;
  Shape shape;  // of one sample
};

struct OutputSpec {
  std::string name, layer;  // the layer can be an input
  bool operator==(const OutputSpec&) const = default;
};

struct NetworkSpec {
  std::string source, name;
  std::vector<InputSpec> inputs;
  std::vector<LayerSpec> layers;                       // in topological order
  std::vector<OutputSpec> outputs;                     // empty: docs/network-json.md
  std::string default_loss = "softmax_cross_entropy";  // of a network without a loss
  bool has_weights = false;                            // of all layers, in their `weights`
  Metadata metadata;                                   // of these weights
  Recipe recipe;
};

/// Throw ParseError.
NetworkSpec read_own_format(const Json& document, std::string_view source);
NetworkSpec read_sukiyaki_format(const Json& document, std::string_view source);
NetworkSpec read_sukiyaki2_format(const Json& document, std::string_view source);
/// Whether the first layer names its outputs.
bool is_sukiyaki2(const Json& document);
/// The spec in our format, without weights.
Json to_json(const NetworkSpec& spec);

}  // namespace kaiseki::nn
