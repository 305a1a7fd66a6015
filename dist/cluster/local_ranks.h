// SPDX-License-Identifier: MIT
// Ranks in one process, for tests. Each rank is a thread.
#pragma once

#include <functional>

#include "dist/cluster/communicator.h"

namespace kaiseki::dist {

/// Runs `program` once for each rank, and returns when all have ended. If one throws, the transfers
/// of the others throw RankFailed, and the first exception is rethrown here.
void run_local_ranks(int ranks, const std::function<void(Communicator&)>& program);

}  // namespace kaiseki::dist
