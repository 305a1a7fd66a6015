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

ChannelSplit::ChannelSplit(nn::Network& whole, Communicator& set, const LayerChoice& layers)
    : set_(set), part_(build(whole, layers)) {
  part_.initialize(whole.seed());
  divide(whole);
}

nn::Network ChannelSplit::build(nn::Network& whole, const LayerChoice& layers) {
  if (whole.device().memory().account().budget != 0)
    throw Error(message("cluster",
                        "expected a device without KAISEKI_DEVICE_MEMORY for divided "
                        "layers: ranks with other free memory would plan other passes"));
  DividedSpec divided = divide_channels(whole.spec(), set_.rank(), set_.size(), layers);
  units_ = std::move(divided.units);
  ChannelLayers exchanges(set_);
  return nn::Network::build(std::move(divided.spec), whole.device());
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
