// SPDX-License-Identifier: MIT
// Replaces blas_peer_dnnl.cc if oneDNN is not installed.
#include "bench/blas_peers.h"

namespace kaiseki::bench {

BlasPeer dnnl_sgemm_peer() { return {"onednn sgemm", "apt-get install libdnnl-dev", {}}; }

BlasPeer dnnl_matmul_peer() { return {"onednn matmul", "apt-get install libdnnl-dev", {}}; }

}  // namespace kaiseki::bench
