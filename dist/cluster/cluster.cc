// SPDX-License-Identifier: MIT
#include "dist/cluster/cluster.h"

#include <cstdio>
#include <utility>

#include "dist/cluster/mpi.h"

namespace kaiseki::dist {

Cluster::Cluster() : Cluster(mpi_communicator()) {}

Cluster::Cluster(std::unique_ptr<Communicator> ranks) : ranks_(std::move(ranks)) {}

int Cluster::rank_on_host() const {
  int before = 0;
  for (int other = 0; other < rank(); ++other)
    before += ranks_->host(other) == ranks_->host(rank());
  return before;
}

bool Cluster::is_on_several_machines() const {
  for (int rank = 1; rank < size(); ++rank)
    if (ranks_->host(rank) != ranks_->host(0)) return true;
  return false;
}

std::string Cluster::name() const {
  return "rank " + std::to_string(rank()) + " of " + std::to_string(size()) + " on " +
         ranks_->host(rank());
}

void Cluster::fail(const std::exception& error) const {
  std::fprintf(stderr, "%s: %s\n", name().c_str(), error.what());
  end_all_ranks(1);
}

}  // namespace kaiseki::dist
