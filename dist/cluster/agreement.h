// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "dist/cluster/cluster.h"
#include "nn/train/updater.h"

namespace kaiseki::dist {

/// A number that must be the same on all ranks.
struct SharedFact {
  std::string_view name;
  double value = 0;
};

/// Data, order, progress, learning rate and parameters of a training.
std::vector<SharedFact> facts_of(nn::Updater& updater);

/// A number that differs for most other texts.
double fact_of(std::string_view text);

/// Throws Error with the name of a fact and a rank whose value differs from that of rank 0.
void expect_agreement(Cluster& cluster, std::span<const SharedFact> facts);

}  // namespace kaiseki::dist
