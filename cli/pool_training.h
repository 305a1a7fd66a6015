// SPDX-License-Identifier: MIT
// kaiseki train --pool: training on the nodes that join.
#pragma once

#include <memory>
#include <string>

#include "cli/options.h"
#include "nn/train/trainer.h"

namespace kaiseki::cli {

class PoolTraining {
 public:
  /// Starts to serve, or connects to the coordinator.
  explicit PoolTraining(const PoolTrainCommand& command);
  ~PoolTraining();

  /// The updater must not outlive this object.
  std::unique_ptr<nn::Updater> make_updater(nn::Network& network, nn::Optimizer& optimizer,
                                            nn::Iterator& iterator, const nn::Schedule& schedule);
  /// Adds the extension that starts to use the pool (--pool-after). The trainer must use the
  /// updater made here.
  void extend(nn::Trainer& trainer);

  /// "nodes: kaiseki join http://127.0.0.1:8080", with the coordinator's owner if it is another
  /// process.
  std::string where() const;
  /// "2 nodes  31 tickets/s", for the last seconds.
  std::string status();
  /// "1,200 tickets by nodes, 3 here, 40 checked, 0 nodes expelled, 0 steps trained again;
  /// mode border"
  std::string summary() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::cli
