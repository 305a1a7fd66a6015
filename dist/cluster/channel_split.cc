// SPDX-License-Identifier: MIT
#include "dist/cluster/channel_split.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dist/cluster/channel_layers.h"
#include "matrix/ops/copy.h"

namespace kaiseki::dist {
namespace {

std::vector<nn::State> tensors_of(nn::Network& network) {
  std::vector<nn::State> all(network.states().begin(), network.states().end());
  for (const nn::Parameter& one : network.parameters()) all.push_back({one.name, one.value});
  return all;
}

}  // namespace

bool can_divide_channels(Device device) {
  return device.is_cpu() && device.memory().account().budget == 0;
}

ChannelSplit::ChannelSplit(nn::Network& whole, Communicator& set, const LayerChoice& layers)
    : set_(set), part_(build(whole, layers)) {
  part_.initialize(whole.seed());
  divide(whole);
}

nn::Network ChannelSplit::build(nn::Network& whole, const LayerChoice& layers) {
  if (!can_divide_channels(whole.device()))
    throw Error(message("cluster",
                        "expected the CPU without KAISEKI_DEVICE_MEMORY for divided "
                        "layers: ranks with other free memory would plan other passes"));
  DividedSpec divided = divide_channels(whole.spec(), set_.rank(), set_.size(), layers);
  units_ = std::move(divided.units);
  for (const nn::LayerSpec& layer : whole.spec().layers) layers_.insert(layer.name);
  ChannelLayers exchanges(set_);
  return nn::Network::build(std::move(divided.spec), whole.device());
}

RankPart ChannelSplit::rows_of(const std::string& name, int64_t rows, int rank) const {
  for (size_t end = name.rfind('.'); end != std::string::npos && end > 0;
       end = name.rfind('.', end - 1)) {
    const std::string layer = name.substr(0, end);
    if (!layers_.contains(layer)) continue;
    const auto at = units_.find(layer);
    if (at == units_.end()) break;
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

/// If a message fails, `whole` stays as it was.
void ChannelSplit::join(std::span<const nn::State> whole, std::span<const nn::State> part) const {
  std::vector<Tensor> joined;
  for (size_t i = 0; i < part.size(); ++i) joined.push_back(all_rows(whole[i], part[i].value));
  for (size_t i = 0; i < part.size(); ++i) {
    Tensor to = whole[i].value;
    copy_into(to, joined[i]);
  }
}

Tensor ChannelSplit::all_rows(const nn::State& whole, const Tensor& part) const {
  if (part.size() == whole.value.size()) return part;
  Tensor all(whole.value.shape(), DType::f32, Device::cpu());
  const int64_t row = all.size() / all.dim(0);
  std::vector<RankPart> bytes;
  for (int rank = 0; rank < set_.size(); ++rank) {
    const RankPart rows = rows_of(whole.name, all.dim(0), rank);
    bytes.push_back({4 * rows.first * row, 4 * rows.count * row});
  }
  const Tensor own = part.contiguous();
  auto* to = all.overwrite<float>();
  std::copy_n(own.data<float>(), own.size(),
              to + bytes[static_cast<size_t>(set_.rank())].first / 4);
  all_gather(set_, std::as_writable_bytes(std::span(to, static_cast<size_t>(all.size()))), bytes);
  return all;
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
