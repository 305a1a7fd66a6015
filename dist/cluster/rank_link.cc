// SPDX-License-Identifier: MIT
#include "dist/cluster/rank_link.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "dist/cluster/collectives.h"

namespace kaiseki::dist {
namespace {

constexpr int64_t kLarge = 1 << 20;  // bytes
constexpr int kSmallRounds = 50, kLargeRounds = 5;

/// The shortest time in which every rank sends a message to the next one.
double seconds_of_round(Communicator& ranks, int64_t bytes, int rounds) {
  const int size = ranks.size(), rank = ranks.rank();
  std::vector<std::byte> out(static_cast<size_t>(bytes)), in(out.size());
  double shortest = 1e9;
  for (int i = 0; i < rounds; ++i) {
    barrier(ranks);
    const double begin = steady_seconds();
    const auto arriving = ranks.receive((rank + size - 1) % size, in);
    ranks.send((rank + 1) % size, out)->wait();
    arriving->wait();
    shortest = std::min(shortest, steady_seconds() - begin);
  }
  return shortest;
}

}  // namespace

RankLink measure_link(Communicator& ranks) {
  const double small = seconds_of_round(ranks, 4, kSmallRounds);
  const double large = seconds_of_round(ranks, kLarge, kLargeRounds);
  std::vector<float> all(2 * static_cast<size_t>(ranks.size()));
  const auto own = 2 * static_cast<size_t>(ranks.rank());
  all[own] = static_cast<float>(small);
  all[own + 1] = static_cast<float>(std::max(large - small, 1e-9));
  all_reduce(ranks, all);
  RankLink slowest{.bytes_per_second = 1e18};
  for (size_t i = 0; i < all.size(); i += 2) {
    slowest.latency = std::max(slowest.latency, static_cast<double>(all[i]));
    slowest.bytes_per_second =
        std::min(slowest.bytes_per_second, static_cast<double>(kLarge) / all[i + 1]);
  }
  return slowest;
}

}  // namespace kaiseki::dist
