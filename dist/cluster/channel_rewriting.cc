// SPDX-License-Identifier: MIT
#include "dist/cluster/channel_rewriting.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "dist/cluster/collectives.h"

namespace kaiseki::dist {
namespace {

/// The setting with the number of output channels, or nothing if the layer cannot be divided.
std::string_view channels_setting(const nn::LayerSpec& layer) {
  if (layer.type == "fully_connected") return "output_size";
  const Json* groups = layer.params.find("groups");
  if (layer.type == "convolution" && (!groups || groups->number == 1)) return "output_channels";
  return {};
}

/// Returns whether an output channel of the layer depends only on the same channel of its input.
bool keeps_channels(const nn::LayerSpec& layer) {
  constexpr std::array<std::string_view, 9> kTypes = {"average_pooling",
                                                      "batch_normalization",
                                                      "flatten",
                                                      "global_pooling",
                                                      "leaky_relu",
                                                      "max_pooling",
                                                      "relu",
                                                      "sigmoid",
                                                      "tanh"};
  return std::ranges::find(kTypes, layer.type) != kTypes.end() && !layer.params.find("axis");
}

/// Makes the spec of one rank's network.
class Rewriting {
 public:
  Rewriting(const nn::NetworkSpec& whole, int rank, int ranks, const LayerChoice& chosen)
      : part_(whole), rank_(rank), ranks_(ranks), chosen_(chosen) {
    part_.layers.clear();
    part_.has_weights = false;
    for (const nn::InputSpec& input : whole.inputs) names_.insert(input.name);
    for (const nn::LayerSpec& layer : whole.layers) names_.insert(layer.name);
    for (const nn::LayerSpec& layer : whole.layers)
      for (const std::string& input : layer.inputs) readers_[input].push_back(&layer);
    for (const nn::OutputSpec& output : whole.outputs) readers_.erase(output.layer);
    for (const nn::LayerSpec& layer : whole.layers) decide(layer);
    for (const nn::LayerSpec& layer : whole.layers) add(layer);
  }

  DividedSpec result() { return {std::move(part_), std::move(units_)}; }
  const std::set<std::string>& computed_in_parts() const { return computed_in_parts_; }

 private:
  /// Decides whether the layer is divided. The network's output is never divided.
  void decide(const nn::LayerSpec& layer) {
    if (!readers_.contains(layer.name)) return;
    const std::string_view setting = channels_setting(layer);
    if (!setting.empty() && !layer.phase) {
      const auto channels = static_cast<int64_t>(layer.params.find(setting)->number);
      if (channels < ranks_ || (chosen_ && !chosen_->contains(layer.name))) return;
      units_[layer.name] = channels;
      computed_in_parts_.insert(layer.name);
    } else if (keeps_channels(layer) && units_.contains(layer.inputs[0])) {
      units_[layer.name] = units_.at(layer.inputs[0]);
    }
  }

  void add(const nn::LayerSpec& layer) {
    nn::LayerSpec part = layer;
    if (computed_in_parts_.contains(layer.name)) {
      const int64_t own = part_of_rank(units_.at(layer.name), rank_, ranks_).count;
      part.params.set(channels_setting(layer), Json(static_cast<double>(own)));
      part.inputs = {summed(layer.inputs[0])};
    } else if (!units_.contains(layer.name)) {
      for (std::string& input : part.inputs) input = gathered(input);
    }
    part.checks.clear();  // sizes of the whole network
    part.weights.clear();
    part_.layers.push_back(std::move(part));
  }

  /// The name of the value with all channels, whose gradients are summed over all ranks.
  std::string summed(const std::string& value) {
    if (units_.contains(value) && is_read_in_parts_only(value)) return gathered(value);
    return insert(summed_, value, gathered(value), "sum_gradients", Json::object());
  }

  /// The name of the value with all channels.
  std::string gathered(const std::string& value) {
    if (!units_.contains(value)) return value;
    Json params = Json::object();
    params.set("units", Json(static_cast<double>(units_.at(value))));
    params.set("sum", Json(is_read_in_parts_only(value)));
    return insert(gathered_, value, value, "gather_channels", std::move(params));
  }

  /// Returns whether all layers that read the value are divided. Each rank then has its own part of
  /// the gradient.
  bool is_read_in_parts_only(const std::string& value) const {
    return std::ranges::all_of(readers_.at(value), [&](const nn::LayerSpec* reader) {
      return units_.contains(reader->name);
    });
  }

  std::string insert(std::map<std::string, std::string>& made, const std::string& value,
                     const std::string& input, const char* type, Json params) {
    const auto [at, is_new] = made.emplace(value, "");
    if (!is_new) return at->second;
    std::string name = value + "." + type;
    while (!names_.insert(name).second) name += "_";
    part_.layers.push_back(
        {.name = name, .type = type, .path = name, .inputs = {input}, .params = std::move(params)});
    return at->second = name;
  }

  nn::NetworkSpec part_;
  int rank_, ranks_;
  const LayerChoice& chosen_;
  std::map<std::string, std::vector<const nn::LayerSpec*>> readers_;
  std::map<std::string, int64_t> units_;
  std::set<std::string> names_, computed_in_parts_;
  std::map<std::string, std::string> gathered_, summed_;  // for each value: the added layer
};

}  // namespace

DividedSpec divide_channels(const nn::NetworkSpec& whole, int rank, int ranks,
                            const LayerChoice& layers) {
  return Rewriting(whole, rank, ranks, layers).result();
}

std::vector<std::string> divisible_layers(const nn::NetworkSpec& whole, int ranks) {
  const LayerChoice every;
  const Rewriting all(whole, 0, ranks, every);
  return {all.computed_in_parts().begin(), all.computed_in_parts().end()};
}

}  // namespace kaiseki::dist
