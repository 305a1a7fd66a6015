// SPDX-License-Identifier: MIT
#include "dist/cluster/agreement.h"

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "dist/cluster/collectives.h"

namespace kaiseki::dist {

std::vector<SharedFact> facts_of(nn::Updater& updater) {
  uint64_t bytes = 0;
  for (const nn::Parameter& one : updater.network().parameters()) bytes += one.value.bytes();
  const nn::IteratorState state = updater.iterator().state();
  return {
      {"samples of data", static_cast<double>(updater.iterator().dataset().size())},
      {"samples in a minibatch", static_cast<double>(updater.iterator().batch_size())},
      {"seed of the order", static_cast<double>(state.seed)},
      {"complete epochs", static_cast<double>(state.epoch)},
      {"samples of the epoch before", static_cast<double>(state.position)},
      {"steps before", static_cast<double>(updater.optimizer().steps())},
      {"learning rate", updater.learning_rate()},
      {"seed of the network", static_cast<double>(updater.network().seed())},
      {"bytes of parameters", static_cast<double>(bytes)},
  };
}

double fact_of(std::string_view text) {
  uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619;
  return hash;
}

void expect_agreement(Cluster& cluster, std::span<const SharedFact> facts) {
  std::vector<double> all(facts.size() * static_cast<size_t>(cluster.size()));
  std::vector<RankPart> parts;
  const auto bytes = static_cast<int64_t>(facts.size() * sizeof(double));
  for (int rank = 0; rank < cluster.size(); ++rank) parts.push_back({rank * bytes, bytes});
  for (size_t i = 0; i < facts.size(); ++i)
    all[static_cast<size_t>(cluster.rank()) * facts.size() + i] = facts[i].value;
  all_gather(cluster.ranks(), std::as_writable_bytes(std::span(all)), parts);
  for (int rank = 1; rank < cluster.size(); ++rank)
    for (size_t i = 0; i < facts.size(); ++i)
      if (const double one = all[static_cast<size_t>(rank) * facts.size() + i]; one != all[i])
        throw Error(message("cluster", "expected the same on all ranks, got ", facts[i].name, ": ",
                            all[i], " on rank 0 and ", one, " on rank ", rank, " (",
                            cluster.ranks().host(rank), ")"));
}

}  // namespace kaiseki::dist
