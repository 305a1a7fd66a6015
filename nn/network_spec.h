// SPDX-License-Identifier: MIT
// NetworkSpec: what a network's JSON says, before shapes are known. Both formats become this one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/shape.h"
#include "nn/io/named_tensor.h"
#include "nn/json.h"
#include "nn/network.h"

namespace kaiseki::nn {

/// A size that the JSON repeats: dimension `axis` of the layer's input or output (-1: all
/// elements).
struct SizeCheck {
  std::string path;  // "layer_params[1].params.input_rows"
  bool of_output = false;
  int axis = -1;
  int64_t value = 0;
};

/// Values of one parameter or state that stand in the network's own file.
struct InlineWeights {
  std::string parameter;  // "weight"
  std::string path;
  std::vector<float> values;
};

struct LayerSpec {
  std::string name, type = {}, path;
  std::vector<std::string> inputs = {};
  std::optional<Phase> phase = {};  // in the other one the layer is passed over
  Json params = Json::object();
  std::vector<SizeCheck> checks = {};
  std::vector<InlineWeights> weights = {};
};

struct InputSpec {
  std::string name, path;
  Shape shape;  // of one sample
};

struct NetworkSpec {
  std::string source, name;
  std::vector<InputSpec> inputs;
  std::vector<LayerSpec> layers;                       // each after its inputs
  std::vector<std::string> outputs;                    // empty: what the layers leave over
  std::string default_loss = "softmax_cross_entropy";  // of a network that has none
  bool has_weights = false;                            // of all layers, in their `weights`
  Metadata metadata;                                   // that came with these weights
};

/// JSON in either format, or ONNX. Throws ParseError.
NetworkSpec parse_network(std::string_view text, std::string_view source);
NetworkSpec read_own_format(const Json& document, std::string_view source);
NetworkSpec read_sukiyaki_format(const Json& document, std::string_view source);
/// In our format, without weights.
Json to_json(const NetworkSpec& spec);

}  // namespace kaiseki::nn
