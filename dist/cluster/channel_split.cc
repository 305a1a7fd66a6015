// SPDX-License-Identifier: MIT
#include "dist/cluster/channel_split.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dist/cluster/channel_layers.h"
#include "matrix/ops/copy.h"
#include "nn/network_spec.h"

namespace kaiseki::dist {
namespace {

/// The setting with the number of output channels, or nothing if the layer cannot be divided.
std::string_view channels_setting(const nn::LayerSpec& layer) {
  if (layer.type == "fully_connected") return "output_size";
  const Json* groups = layer.params.find("groups");
  if (layer.type == "convolution" && (!groups || groups->number == 1)) return "output_channels";
  return {};
}

/// Layers whose output channel depends on the same channel of their input only.
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

std::vector<nn::State> tensors_of(nn::Network& network) {
  std::vector<nn::State> all(network.states().begin(), network.states().end());
  for (const nn::Parameter& one : network.parameters()) all.push_back({one.name, one.value});
  return all;
}

}  // namespace

/// Makes the spec of one rank's network.
class ChannelSplit::Rewriting {
 public:
  Rewriting(const nn::NetworkSpec& whole, const Communicator& set) : part_(whole), set_(set) {
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

  nn::NetworkSpec& part() { return part_; }
  /// By layer: the channels that are divided.
  const std::map<std::string, int64_t>& units() const { return units_; }

 private:
  /// The network's output and its input are whole.
  void decide(const nn::LayerSpec& layer) {
    if (!readers_.contains(layer.name)) return;
    const std::string_view setting = channels_setting(layer);
    if (!setting.empty() && !layer.phase) {
      const auto channels = static_cast<int64_t>(layer.params.find(setting)->number);
      if (channels < set_.size()) return;
      units_[layer.name] = channels;
      computed_in_parts_.insert(layer.name);
    } else if (keeps_channels(layer) && units_.contains(layer.inputs[0])) {
      units_[layer.name] = units_.at(layer.inputs[0]);
    }
  }

  void add(const nn::LayerSpec& layer) {
    nn::LayerSpec part = layer;
    if (computed_in_parts_.contains(layer.name)) {
      const int64_t own = part_of_rank(units_.at(layer.name), set_.rank(), set_.size()).count;
      part.params.set(channels_setting(layer), Json(static_cast<double>(own)));
      part.inputs = {summed(layer.inputs[0])};
    } else if (!units_.contains(layer.name)) {
      for (std::string& input : part.inputs) input = gathered(input);
    }
    part.checks.clear();  // sizes of the whole network
    part.weights.clear();
    part_.layers.push_back(std::move(part));
  }

  /// A value of which the gradients of all ranks are summed.
  std::string summed(const std::string& value) {
    if (units_.contains(value) && is_read_in_parts_only(value)) return gathered(value);
    return insert(summed_, value, gathered(value), "sum_gradients", Json::object());
  }

  /// The value with all channels.
  std::string gathered(const std::string& value) {
    if (!units_.contains(value)) return value;
    Json params = Json::object();
    params.set("units", Json(static_cast<double>(units_.at(value))));
    params.set("sum", Json(is_read_in_parts_only(value)));
    return insert(gathered_, value, value, "gather_channels", std::move(params));
  }

  /// Whether each rank has its own part of the gradient: all layers that need the whole value are
  /// divided.
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
  const Communicator& set_;
  std::map<std::string, std::vector<const nn::LayerSpec*>> readers_;
  std::map<std::string, int64_t> units_;
  std::set<std::string> names_, computed_in_parts_;
  std::map<std::string, std::string> gathered_, summed_;  // by value: the layer that gives it
};

ChannelSplit::ChannelSplit(nn::Network& whole, Communicator& set) : set_(set), part_(build(whole)) {
  part_.initialize(whole.seed());
  divide(whole);
}

nn::Network ChannelSplit::build(nn::Network& whole) {
  if (whole.device().memory().account().budget != 0)
    throw Error(message("cluster",
                        "expected a device without KAISEKI_DEVICE_MEMORY for divided "
                        "layers: ranks with other free memory would plan other passes"));
  Rewriting rewriting(whole.spec(), set_);
  units_ = rewriting.units();
  ChannelLayers layers(set_);
  return nn::Network::build(std::move(rewriting.part()), whole.device());
}

RankPart ChannelSplit::rows_of(const std::string& name, int64_t rows, int rank) const {
  for (std::string layer = name; !layer.empty();
       layer.resize(layer.rfind('.') == std::string::npos ? 0 : layer.rfind('.')))
    if (const auto at = units_.find(layer); at != units_.end()) {
      const RankPart units = part_of_rank(at->second, rank, set_.size());
      return {rows / at->second * units.first, rows / at->second * units.count};
    }
  return {0, rows};
}

void ChannelSplit::divide(std::span<const nn::State> whole, std::span<const nn::State> part) const {
  for (size_t i = 0; i < part.size(); ++i) {
    const Tensor& from = whole[i].value;
    const RankPart rows = rows_of(part[i].name, from.dim(0), set_.rank());
    Tensor to = part[i].value;
    copy_into(to, from.slice(0, rows.first, rows.count));
  }
}

void ChannelSplit::join(std::span<const nn::State> whole, std::span<const nn::State> part) const {
  for (size_t i = 0; i < part.size(); ++i) {
    Tensor to = whole[i].value;
    const int64_t row = to.size() / to.dim(0);
    std::vector<RankPart> bytes;
    for (int rank = 0; rank < set_.size(); ++rank) {
      const RankPart rows = rows_of(part[i].name, to.dim(0), rank);
      bytes.push_back({4 * rows.first * row, 4 * rows.count * row});
    }
    if (part[i].value.size() == to.size()) {  // each rank has all of it
      copy_into(to, part[i].value);
      continue;
    }
    const Tensor own = part[i].value.contiguous();
    auto* all = to.overwrite<float>();
    std::copy_n(own.data<float>(), own.size(),
                all + bytes[static_cast<size_t>(set_.rank())].first / 4);
    all_gather(set_, std::as_writable_bytes(std::span(all, static_cast<size_t>(to.size()))), bytes);
  }
}

void ChannelSplit::divide(nn::Network& whole) {
  divide(tensors_of(whole), tensors_of(part_));
  part_.set_random_position(whole.random_position());
}

void ChannelSplit::join(nn::Network& whole) {
  join(tensors_of(whole), tensors_of(part_));
  whole.set_random_position(part_.random_position());
}

void ChannelSplit::divide(nn::Network& whole, nn::Optimizer& of_whole, nn::Optimizer& of_part) {
  divide(of_whole.states(whole.parameters()), of_part.states(part_.parameters()));
  of_part.set_steps(of_whole.steps());
}

void ChannelSplit::join(nn::Network& whole, nn::Optimizer& of_whole, nn::Optimizer& of_part) {
  join(of_whole.states(whole.parameters()), of_part.states(part_.parameters()));
  of_whole.set_steps(of_part.steps());
}

}  // namespace kaiseki::dist
