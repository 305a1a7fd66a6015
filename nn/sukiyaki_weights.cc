// SPDX-License-Identifier: MIT
#include "nn/sukiyaki_weights.h"

#include <map>

#include "base/error.h"
#include "nn/graph.h"
#include "nn/sukiyaki_values.h"

namespace kaiseki::nn {
namespace {

class SukiyakiWriter {
 public:
  explicit SukiyakiWriter(Network& network) : graph_(build_graph(network.spec())) {
    for (const Parameter& parameter : network.parameters())
      values_[parameter.name] = parameter.value.to_vector<float>();
  }

  std::string write() {
    Json layers = Json::array(), status = Json::array();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const GraphNode& node = graph_.nodes[i];
      if (node.layer->is_loss() || node.hidden) continue;
      const bool chain = node.inputs.size() == 1 &&
                         node.inputs[0] == (i == 0 ? 0 : graph_.value_of(i - 1)) && !node.phase;
      if (!chain) refuse(node, "a chain of layers");
      Json layer = Json::object();
      layer.set("type", Json()).set("name", node.name).set("params", params_of(node, layer));
      layers.items.push_back(std::move(layer));
      status.items.push_back(status_of(node));
    }
    return format_json(Json::object().set("layer_params", layers).set("layer_status", status));
  }

 private:
  [[noreturn]] static void refuse(const GraphNode& node, const std::string& expected) {
    throw Error(message("save_weights", "expected ", expected, " for Sukiyaki's format, got layer ",
                        node.name, " of type ", node.type, "; use .safetensors"));
  }

  static Json setting(const GraphNode& node, std::string_view key) {
    for (const Setting& setting : settings_of(*node.layer))
      if (setting.name == key) return setting.value;
    return {};
  }

  void only(const GraphNode& node, std::string_view key, const Json& allowed) const {
    if (!(setting(node, key) == allowed))
      refuse(node, "\"" + std::string(key) + "\": " + allowed.describe());
  }

  double square(const GraphNode& node, std::string_view key) const {
    const Json value = setting(node, key);
    if (!value.is(Json::Kind::number)) refuse(node, "a square " + std::string(key));
    return value.number;
  }

  Json params_of(const GraphNode& node, Json& layer) const {
    Json params = Json::object();
    const Shape& input = graph_.shape_of(node.inputs[0]);
    const bool picture = node.type == "convolution" || node.type == "max_pooling";
    if (picture)
      params.set("input_rows", input[1]).set("input_cols", input[2]).set("input_depth", input[0]);
    if (node.type == "convolution") {
      only(node, "dilation", 1);
      only(node, "groups", 1);
      layer.set("type", "conv");
      params.set("output_depth", node.shape.output[0])
          .set("window_size", square(node, "kernel_size"))
          .set("padding", square(node, "padding"));
      if (const double stride = square(node, "stride"); stride != 1) params.set("stride", stride);
    } else if (node.type == "max_pooling") {
      only(node, "padding", 0);
      only(node, "ceil_mode", false);
      layer.set("type", "pool");
      params.set("window_size", square(node, "kernel_size")).set("stride", square(node, "stride"));
    } else if (node.type == "fully_connected") {
      layer.set("type", "fc");
      params.set("input_size", input.elements()).set("output_size", node.shape.output[0]);
    } else {
      layer.set("type", "act");
      params.set("activation_type", activation_of(node));
    }
    return params;
  }

  std::string activation_of(const GraphNode& node) const {
    if (node.type == "sigmoid" && setting(node, "gain") == Json(2)) return "tanh";
    if (node.type == "sigmoid") only(node, "gain", 1);
    if (node.type != "sigmoid" && node.type != "relu" && node.type != "softmax")
      refuse(node, "conv, pool, fc or act");
    return node.type;
  }

  Json status_of(const GraphNode& node) {
    Json status = Json::object();
    if (node.shape.parameters.empty()) return status;
    const std::vector<float>& weight = values_.at(node.name + ".weight");
    std::vector<float> bias(static_cast<size_t>(node.shape.output[0]));
    if (auto at = values_.find(node.name + ".bias"); at != values_.end()) bias = at->second;
    const auto positions = static_cast<size_t>(node.shape.output.elements()) / bias.size();
    std::vector<float> spread;
    for (float value : bias) spread.insert(spread.end(), positions, value);
    return status.set("w", encode_floats(weight))
        .set("b", encode_floats(spread))
        .set("sha256", checksum_of(weight, spread));
  }

  Graph graph_;
  std::map<std::string, std::vector<float>> values_;
};

}  // namespace

std::string to_sukiyaki(Network& network) { return SukiyakiWriter(network).write(); }

}  // namespace kaiseki::nn
