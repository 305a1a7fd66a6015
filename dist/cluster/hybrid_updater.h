// SPDX-License-Identifier: MIT
// HybridUpdater: training with sets of ranks. The sets divide the minibatch. The ranks of a set
// divide the channels of layers.
#pragma once

#include <memory>

#include "dist/cluster/channel_split.h"
#include "dist/cluster/cluster.h"
#include "dist/cluster/cluster_updater.h"
#include "nn/train/updater.h"

namespace kaiseki::dist {

/// The ranks of a cluster in sets of equal size: ranks 0 to n - 1, then n to 2n - 1, and so on.
struct RankSets {
  /// `cluster` must outlive this. Throws Error if the number of ranks is no multiple of
  /// `ranks_of_set`.
  RankSets(Cluster& cluster, int ranks_of_set, LayerChoice layers = {});

  Cluster& cluster;
  LayerChoice layers;                 // that the ranks of a set divide
  std::unique_ptr<Communicator> set;  // the ranks that share a network with this rank
  Cluster places;                     // the ranks with the same part of it, one of each set
  /// The part of each minibatch that the set of this rank computes.
  nn::BatchShare share() const { return places.share(); }
};

/// All ranks must have the same network, optimizer, data and schedule. If a rank differs, the first
/// update() throws Error with this rank. All ranks start with the weights of rank 0. Gradients are
/// those of one machine with the whole minibatch, up to the order of sums.
/// The network and the optimizer get the weights and slots of all channels after the last step of
/// an epoch, and after a stop. All ranks then get those of rank 0, because devices may round
/// differently. During an epoch they have older values.
class HybridUpdater : public nn::Updater {
 public:
  /// All references must outlive this. The iterator must have the share of `sets`. Throws Error
  /// otherwise, and for an optimizer that clips gradients.
  HybridUpdater(nn::Network& network, nn::Optimizer& optimizer, nn::Iterator& iterator,
                const nn::Schedule& schedule, RankSets& sets,
                const ClusterTrainingOptions& options = {});

  /// As ClusterUpdater::update().
  Result update() override;
  bool computes_alone() const override { return false; }

  /// The network of this rank, after the first update().
  nn::Network& part() { return split_->network(); }
  bool stopped() const { return inner_ && inner_->stopped(); }
  GradientExchange::Seconds exchange_seconds() const {
    return inner_ ? inner_->exchange_seconds() : GradientExchange::Seconds{};
  }

 private:
  void begin();
  void expect_agreement();
  void share_weights();

  const nn::Schedule schedule_;
  RankSets& sets_;
  ClusterTrainingOptions options_;
  nn::Optimizer part_optimizer_;
  std::unique_ptr<ChannelSplit> split_;
  std::unique_ptr<ClusterUpdater> inner_;  // exists from the first step on
};

}  // namespace kaiseki::dist
