// SPDX-License-Identifier: MIT
// ClusterEvaluator: evaluates after epochs. Each rank computes a part of the data.
#pragma once

#include <memory>

#include "dist/cluster/cluster.h"
#include "nn/train/evaluate.h"
#include "nn/train/extension.h"

namespace kaiseki::dist {

/// Evaluates as nn::evaluate(). Each rank computes a part, and gets the result for all samples.
/// Throws Error for an empty data set.
nn::Evaluation evaluate_on(Cluster& cluster, nn::Network& network,
                           std::shared_ptr<const nn::Dataset> data,
                           const nn::EvaluateOptions& options = {});

/// Does the same as nn::Evaluator with evaluate_on(). Progress counts the samples of this rank.
class ClusterEvaluator : public nn::Extension {
 public:
  ClusterEvaluator(Cluster& cluster, std::shared_ptr<const nn::Dataset> data,
                   const nn::EvaluateOptions& options = {}, int64_t every = 1);
  void on_epoch(nn::Trainer& trainer) override;

 private:
  Cluster& cluster_;
  std::shared_ptr<const nn::Dataset> data_;
  nn::EvaluateOptions options_;
  int64_t every_;
};

}  // namespace kaiseki::dist
