// SPDX-License-Identifier: MIT
#pragma once

#include "dist/cluster/communicator.h"

namespace kaiseki::dist {

/// A message of b bytes takes latency + b / bytes_per_second seconds.
struct RankLink {
  double latency = 0;
  double bytes_per_second = 0;
};

/// Measures messages around the ring of all ranks, in about 0.1 s. All ranks must call it, and get
/// the same result. There must be two or more.
RankLink measure_link(Communicator& ranks);

}  // namespace kaiseki::dist
