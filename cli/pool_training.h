// SPDX-License-Identifier: MIT
// kaiseki train --pool: training with the help of nodes that join.
#pragma once

#include <memory>
#include <string>

#include "cli/options.h"
#include "nn/train/trainer.h"

namespace kaiseki::cli {

class PoolTraining {
 public:
  /// Begins to serve, or calls the coordinator.
  explicit PoolTraining(const PoolTrainCommand& command);
  ~PoolTraining();

  /// `mean` and `std`: what the data set subtracts and divides by. This must outlive it.
  std::unique_ptr<nn::Updater> make_updater(nn::Network& network, nn::Optimizer& optimizer,
                                            nn::Iterator& iterator, const nn::Schedule& schedule,
                                            const std::vector<float>& mean,
                                            const std::vector<float>& std);
  /// What begins to use the pool (--pool-after); the trainer's updater is the one made here.
  void extend(nn::Trainer& trainer);

  /// "nodes: kaiseki join http://127.0.0.1:8080", and whose coordinator that is if it is not ours.
  std::string where() const;
  /// "2 nodes  31 tickets/s", of the last seconds.
  std::string status();
  /// "1,200 tickets by nodes, 3 here, 40 checked, 0 nodes put out; mode border"
  std::string summary() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::cli
