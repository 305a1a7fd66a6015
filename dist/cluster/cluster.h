// SPDX-License-Identifier: MIT
// Cluster: the ranks that train one network together.
//
//   dist::Cluster cluster;  // the ranks of mpirun
//   try {
//     nn::Iterator batches(data, {.batch_size = 256, .share = cluster.share()});
//     dist::ClusterUpdater updater(network, optimizer, batches, schedule, cluster);
//     nn::Trainer(updater, {.epochs = 3}).run();
//   } catch (const std::exception& error) {
//     cluster.fail(error);
//   }
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "dist/cluster/communicator.h"
#include "nn/data/iterator.h"

namespace kaiseki::dist {

class Cluster {
 public:
  /// The ranks of mpirun. Throws Error in a build without MPI.
  Cluster();
  explicit Cluster(std::unique_ptr<Communicator> ranks);

  int rank() const { return ranks_->rank(); }
  int size() const { return ranks_->size(); }
  /// The number of this rank among those of its machine, for the choice of a GPU.
  int rank_on_host() const;
  bool is_on_several_machines() const;
  /// "rank 1 of 4 on node7"
  std::string name() const;
  /// The part of each minibatch that this rank computes.
  nn::BatchShare share() const { return share_of(rank()); }
  nn::BatchShare share_of(int rank) const { return {.index = rank, .parts = size()}; }

  /// Prints the error with the name of the rank to stderr, and ends all ranks with status 1. The
  /// other ranks would wait for this one.
  [[noreturn]] void fail(const std::exception& error) const;

  /// The communicator of the thread that trains.
  Communicator& ranks() { return *ranks_; }
  /// A communicator of the same ranks for another thread.
  std::unique_ptr<Communicator> duplicate() { return ranks_->split(0, rank()); }

 private:
  std::unique_ptr<Communicator> ranks_;
};

}  // namespace kaiseki::dist
