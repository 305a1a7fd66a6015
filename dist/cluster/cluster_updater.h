// SPDX-License-Identifier: MIT
// ClusterUpdater: data-parallel training. Each rank computes its part of every minibatch. The
// gradients are summed over the ranks while the backward pass still runs.
#pragma once

#include <functional>
#include <memory>

#include "dist/cluster/cluster.h"
#include "dist/cluster/gradient_exchange.h"
#include "nn/train/updater.h"

namespace kaiseki::dist {

struct ClusterTrainingOptions {
  ExchangeOptions exchange = {};
  /// Batch normalization uses the statistics of the whole minibatch. A minibatch with fewer samples
  /// than ranks is an exception.
  bool sync_batch_norm = false;
  /// Called once a step. If it returns true on any rank, stopped() is true on all ranks after this
  /// step.
  std::function<bool()> stop = {};
};

/// All ranks must have the same network, optimizer, data and schedule. If a rank differs, the first
/// update() throws Error with this rank. All ranks start with the weights of rank 0.
/// The gradients equal those of one machine with the whole minibatch, up to the order of sums. The
/// statistics of batch normalization are those of a rank's own samples, unless sync_batch_norm is
/// set. The running statistics are averaged over the ranks. The same cluster gives the same bits in
/// every run.
class ClusterUpdater : public nn::Updater {
 public:
  /// All references must outlive this. The iterator must have the share of the cluster. Throws
  /// Error otherwise.
  ClusterUpdater(nn::Network& network, nn::Optimizer& optimizer, nn::Iterator& iterator,
                 const nn::Schedule& schedule, Cluster& cluster,
                 const ClusterTrainingOptions& options = {});
  ~ClusterUpdater() override;

  /// Returns the loss and the outputs of the whole minibatch, on every rank. After an error, the
  /// process must end with Cluster::fail().
  Result update() override;
  bool computes_alone() const override { return false; }

  bool stopped() const { return stopped_; }
  GradientExchange::Seconds exchange_seconds() const { return exchange_.seconds(); }

 private:
  Result step();
  void begin();
  void expect_agreement();
  void share_weights();
  void choose_parts(int64_t size, int64_t samples);
  bool gather_factors(Tensor& inputs, Tensor& gradients, int64_t samples);
  void leave_network();
  Result passes(const nn::Batch& batch, int64_t samples, bool overlaps);
  Result pass(const nn::Batch& part, int64_t first, int64_t samples, bool sends);
  void exchange_after_pass();
  void average_states(double share);
  Result share_results(const Result& own, int64_t samples);

  Cluster& cluster_;
  std::unique_ptr<Communicator> for_gradients_;
  GradientExchange exchange_;
  std::function<bool()> stop_;
  bool sync_batch_norm_;
  ClusterWire wire_;
  bool begun_ = false;
  /// The samples of a rank run in parts if its memory requires it.
  int64_t samples_of_parts_ = 0, parts_ = 1;
  bool is_divided_ = false;  // whether the samples of any rank run in parts
  FactorUse factors_;
  bool stopped_ = false;
  bool tensors_stay_ = true;  // whether tensors of all ranks keep their places in host memory
};

}  // namespace kaiseki::dist
