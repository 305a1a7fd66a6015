// SPDX-License-Identifier: MIT
// kaiseki fit --grid --pool: the scores of a grid search from the nodes of a pool.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/grid_search.h"
#include "cli/options.h"

namespace kaiseki::cli {

struct PoolGridResult {
  std::vector<ml::SearchResult> results;
  /// "45 fits: 40 by nodes, 5 here, 6 checked, 0 nodes expelled"
  std::string summary;
};

/// As search_grid(), over nodes. Without nodes, this machine computes alone. It also computes the
/// tickets that no node finishes in time. Prints where nodes can join, unless `quiet`. Throws Error
/// after Ctrl-C.
PoolGridResult search_grid_on_pool(const PoolCommand& pool, std::string_view model,
                                   const std::vector<GridCandidate>& candidates,
                                   const GridData& data, bool quiet);

}  // namespace kaiseki::cli
