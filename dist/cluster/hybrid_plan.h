// SPDX-License-Identifier: MIT
// Chooses how ranks train a network together, by a time model. The choice is the number of ranks in
// a set, and the layers that they divide.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "dist/cluster/cluster.h"
#include "dist/cluster/rank_link.h"
#include "matrix/cost/rates.h"
#include "nn/network_spec.h"

namespace kaiseki::dist {

/// The rates of the slowest rank.
struct ClusterRates {
  int ranks = 1;
  bool several_machines = false;  // factors of gradients are then exchanged
  DeviceRates device = {};
  RankLink link = {};
};
/// Measures for about a second. All ranks must call it, and get the same result.
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

/// Predicts the time of a choice, for the rank with the most channels. `samples` are those of the
/// whole minibatch. The size of a set must divide the number of ranks. Section 4.3 of the thesis
/// omits the latency of messages, the gradients of inputs, and half of an all-reduce.
HybridSeconds predict_step(const nn::NetworkSpec& network, int64_t samples,
                           const ClusterRates& rates, int ranks_of_set,
                           const std::set<std::string>& layers);

/// Searches the fastest choice of layers for sets of this size. The choice has one layer or more if
/// any can be divided. The search starts from all layers, and from the best single layer. It adds
/// or removes one layer as long as this saves time.
HybridPlan plan_layers(const nn::NetworkSpec& network, int64_t samples, const ClusterRates& rates,
                       int ranks_of_set);

/// The fastest plan of all sizes of a set, from `least` on. If times are equal, the plan with the
/// smallest sets. Throws Error if there is no plan.
HybridPlan plan_hybrid(const nn::NetworkSpec& network, int64_t samples, const ClusterRates& rates,
                       int least = 1);

/// Reads a plan such as {"ranks_of_set": 2, "layers": ["fc6", "fc7"]}, and predicts its time.
/// Throws Error with `source` if the ranks or the network do not fit the plan.
HybridPlan read_plan(std::string_view json, std::string_view source, const nn::NetworkSpec& network,
                     int64_t samples, const ClusterRates& rates);

}  // namespace kaiseki::dist
