// SPDX-License-Identifier: MIT
// In place of oneDNN where it is not installed.
#include "bench/blas_peers.h"

namespace kaiseki::bench {

BlasPeer dnnl_sgemm_peer() { return {"onednn sgemm", "apt-get install libdnnl-dev", {}}; }

BlasPeer dnnl_matmul_peer() { return {"onednn matmul", "apt-get install libdnnl-dev", {}}; }

}  // namespace kaiseki::bench
