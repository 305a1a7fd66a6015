// SPDX-License-Identifier: MIT
// Replaces blas_peer_eigen.cc if Eigen or OpenMP is not installed.
#include "bench/blas_peers.h"

namespace kaiseki::bench {

BlasPeer eigen_peer() { return {"eigen", "apt-get install libeigen3-dev", {}}; }

}  // namespace kaiseki::bench
