// SPDX-License-Identifier: MIT
#include "cli/pool_grid.h"

#include <cstdio>

#include "cli/grid_gather.h"
#include "cli/interrupt.h"
#include "cli/pool_connection.h"
#include "cli/text.h"

namespace kaiseki::cli {
namespace {

/// While it lives, Ctrl-C sets a flag only.
struct CaughtInterrupts {
  CaughtInterrupts() { catch_interrupts(); }
  ~CaughtInterrupts() { release_interrupts(); }
};

}  // namespace

PoolGridResult search_grid_on_pool(const PoolCommand& pool, std::string_view model,
                                   const std::vector<GridCandidate>& candidates,
                                   const GridData& data, bool quiet) {
  check_candidates(model, candidates);
  const CaughtInterrupts caught;
  PoolConnection connection(
      pool, {.function = dist::kFitFunction, .name = "grid search", .public_data = false});
  if (!quiet) {
    std::printf("pool     %s\n", connection.where().c_str());
    std::fflush(stdout);
  }
  GridGather gather(connection.channel(), model, candidates, data, {.stop = interrupted});
  PoolGridResult result{gather.run(), {}};
  const GridCounts& counts = gather.counts();
  result.summary = format_count(counts.by_nodes + counts.here) +
                   " fits: " + format_count(counts.by_nodes) + " by nodes, " +
                   format_count(counts.here) + " here, " + format_count(counts.checked) +
                   " checked, " + format_count(counts.expelled) + " nodes expelled";
  return result;
}

}  // namespace kaiseki::cli
