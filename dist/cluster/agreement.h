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

/// The facts of a training: its data, order, progress, learning rate and parameters.
std::vector<SharedFact> facts_of(nn::Updater& updater);

/// Returns a hash of the text. Most other texts have another hash.
double fact_of(std::string_view text);

/// If a rank's value differs from that of rank 0, throws Error with the fact's name and this rank.
void expect_agreement(Cluster& cluster, std::span<const SharedFact> facts);

}  // namespace kaiseki::dist
