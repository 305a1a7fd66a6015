// SPDX-License-Identifier: MIT
// kaiseki train --cluster: training on the ranks of mpirun. Rank 0 shows the progress and writes
// the files.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/options.h"
#include "dist/cluster/cluster_evaluator.h"
#include "dist/cluster/cluster_updater.h"
#include "dist/cluster/hybrid_plan.h"
#include "dist/cluster/hybrid_updater.h"
#include "nn/train/trainer.h"

namespace kaiseki::cli {

class ClusterTraining {
 public:
  /// Throws Error if an option does not go with --cluster.
  explicit ClusterTraining(const TrainCommand& command);

  /// The command of this rank: with a device of its own, and files on rank 0 only.
  const TrainCommand& command() const { return command_; }
  bool divides_layers() const { return sets_.has_value(); }
  bool leads() const { return cluster_.rank() == 0; }
  /// Chooses how the ranks divide the work, by --cluster. Call it before the functions below.
  void choose_plan(const nn::Network& network, const nn::Recipe& recipe);
  /// The part of each minibatch that this rank computes, or its set.
  nn::BatchShare share() const { return sets_ ? sets_->share() : cluster_.share(); }
  nn::BatchShare share_of_test() const { return cluster_.share(); }
  std::unique_ptr<nn::Updater> make_updater(nn::Network& network, nn::Optimizer& optimizer,
                                            nn::Iterator& iterator, const nn::Schedule& schedule);
  /// Adds the extension that stops all ranks together. The trainer must use the updater made here.
  void extend(nn::Trainer& trainer);
  std::unique_ptr<nn::Extension> make_evaluator(std::shared_ptr<const nn::Dataset> test,
                                                const nn::EvaluateOptions& how, int64_t every);
  /// Runs the training. If it throws, prints the error with the rank and ends all ranks.
  int run(const std::function<int()>& train);

  /// "4 ranks on node1, node2"
  std::string where();
  /// "sets of 2 ranks divide 2 layers: fc1, fc2; predicted 12 ms a step, 20 ms with whole layers"
  std::string plan() const;
  /// "gradients: exchanged in 12.3 s, 94 % of it beside the backward pass"
  std::string summary() const;

 private:
  void prepare();

  TrainCommand command_;
  dist::Cluster cluster_;
  std::optional<dist::RankSets> sets_;  // if ranks divide layers
  dist::HybridPlan plan_;
  double undivided_seconds_ = 0;  // predicted, of a step
  std::function<bool()> stopped_;
  std::function<dist::GradientExchange::Seconds()> exchange_seconds_;
};

}  // namespace kaiseki::cli
