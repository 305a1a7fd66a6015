// SPDX-License-Identifier: MIT
// ChannelSplit: a set of ranks that share one network. Each rank computes a part of the channels of
// its layers.
//
//   dist::Cluster cluster;
//   const int rank = cluster.rank(), ranks_of_set = 2;
//   std::unique_ptr<dist::Communicator> set = cluster.ranks().split(rank / ranks_of_set, rank);
//   dist::Cluster sets(cluster.ranks().split(rank % ranks_of_set, rank));
//   dist::ChannelSplit split(whole, *set);
//   dist::ClusterUpdater updater(split.network(), optimizer, batches, schedule, sets);
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "dist/cluster/channel_rewriting.h"
#include "dist/cluster/collectives.h"
#include "nn/network.h"
#include "nn/optimizer.h"

namespace kaiseki::dist {

/// Returns whether ranks with this device can divide layers. Passes on other devices are planned by
/// the free memory, so ranks would exchange in different orders.
bool can_divide_channels(Device device);

/// A pass sends the outputs of divided layers to all ranks of the set. It sums the gradients of
/// their inputs.
class ChannelSplit {
 public:
  /// All ranks of the set must have the same network. `set` must outlive this. Throws Error if the
  /// network's device cannot divide layers.
  ChannelSplit(nn::Network& whole, Communicator& set, const LayerChoice& layers = {});

  /// The part of this rank. Its layers, weights and random streams have the names of the whole
  /// network's. All ranks of the set must run the same passes, with the same samples.
  nn::Network& network() { return part_; }

  /// Copies the weights and the position of random streams from `whole` to network().
  void divide(nn::Network& whole);
  /// Copies them from all ranks to `whole`. All ranks of the set must call join().
  void join(nn::Network& whole);
  /// The same for the optimizer's tensors.
  void divide(nn::Network& whole, nn::Optimizer& of_whole, nn::Optimizer& of_part);
  void join(nn::Network& whole, nn::Optimizer& of_whole, nn::Optimizer& of_part);

 private:
  nn::Network build(nn::Network& whole, const LayerChoice& layers);
  /// The rows of a tensor that this rank has.
  RankPart rows_of(const std::string& name, int64_t rows, int rank) const;
  void divide(std::span<const nn::State> whole, std::span<const nn::State> part) const;
  void join(std::span<const nn::State> whole, std::span<const nn::State> part) const;

  /// The rows of all ranks.
  Tensor all_rows(const nn::State& whole, const Tensor& part) const;

  Communicator& set_;
  std::set<std::string> layers_;          // all of the whole network
  std::map<std::string, int64_t> units_;  // for each divided layer: its number of channels
  nn::Network part_;
};

}  // namespace kaiseki::dist
