// SPDX-License-Identifier: MIT
#include <cstdlib>

#include "dist/cluster/mpi.h"

namespace kaiseki::dist {

bool has_mpi() { return false; }

std::unique_ptr<Communicator> mpi_communicator() {
  throw Error(message("cluster",
                      "expected a build with MPI, got one without; install libopenmpi-dev and "
                      "openmpi-bin, then build again"));
}

void end_all_ranks(int status) { std::_Exit(status); }

}  // namespace kaiseki::dist
