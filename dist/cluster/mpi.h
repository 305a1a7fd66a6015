// SPDX-License-Identifier: MIT
// The ranks of mpirun. A build without MPI has the same functions (dist/cluster/no_mpi.cc).
#pragma once

#include <memory>

#include "dist/cluster/communicator.h"

namespace kaiseki::dist {

/// Whether this build has MPI.
bool has_mpi();

/// All ranks of mpirun. A program that mpirun did not start is one rank. MPI ends with the last
/// communicator, and cannot start again. If that happens after cancel() or by an exception, all
/// ranks end. Throws Error in a build without MPI, or if MPI was started before.
std::unique_ptr<Communicator> mpi_communicator();

/// Ends all ranks with this status, without destructors. mpirun prints a message about it.
[[noreturn]] void end_all_ranks(int status);

}  // namespace kaiseki::dist
