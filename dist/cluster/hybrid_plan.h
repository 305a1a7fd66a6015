// SPDX-License-Identifier: MIT
// Chooses how ranks train a network together, by a time model: the ranks of a set, and the layers
// that they divide.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "dist/cluster/cluster.h"
#include "dist/cluster/rank_link.h"
#include "matrix/cost/rates.h"
#include "nn/network_spec.h"

namespace kaiseki::dist {

/// The slowest of all ranks.
struct ClusterRates {
  int ranks = 1;
  bool several_machines = false;  // factors of gradients are then exchanged
  DeviceRates device = {};
  RankLink link = {};
};
/// Measures in about a second. All ranks must call it, and get the same result.
ClusterRates measure_rates(Cluster& cluster, Device device);

/// Predicted seconds of a training step.
struct HybridSeconds {
  double forward = 0, backward = 0, update = 0;
  double channels = 0;   // messages between the ranks of a set
  double gradients = 0;  // messages between sets, beside the backward pass
  double all() const {
    return forward + channels + (backward > gradients ? backward : gradients) + update;
  }
};

struct HybridPlan {
  int ranks_of_set = 1;
  std::set<std::string> layers = {};  // that the ranks of a set divide
  HybridSeconds seconds = {};
};

/// The time of a given choice, for the rank with most channels. `samples`: of the whole minibatch.
/// The size of a set must divide the number of ranks. Section 4.3 of the thesis leaves out the
/// latency of messages, the gradients of inputs, and the second half of an all-reduce.
HybridSeconds predict_step(const nn::NetworkSpec& network, int64_t samples,
                           const ClusterRates& rates, int ranks_of_set,
                           const std::set<std::string>& layers);

/// The fastest choice of layers for sets of this size that a search finds: one or more, if any can
/// be divided. From all layers, and from the best single one, it adds or removes one layer as long
/// as this saves time.
HybridPlan plan_layers(const nn::NetworkSpec& network, int64_t samples, const ClusterRates& rates,
                       int ranks_of_set);

/// The fastest of all sizes of a set, from `least` on. Of equal times, the smallest sets. Throws
/// Error if there is no plan.
HybridPlan plan_hybrid(const nn::NetworkSpec& network, int64_t samples, const ClusterRates& rates,
                       int least = 1);

}  // namespace kaiseki::dist
