// SPDX-License-Identifier: MIT
// PoolUpdater: an updater that distributes the gradients over the nodes of a pool (MILJS paper,
// section 3.4). docs/pool-training.md has its guarantees.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dist/train/gather.h"
#include "dist/train/plan.h"
#include "dist/train/samples.h"
#include "dist/train/snapshots.h"
#include "nn/train/updater.h"

namespace kaiseki::dist {

struct PoolTrainingOptions {
  PoolMode mode = PoolMode::automatic;
  std::string border = {};  // the backbone's last layer; empty: before the first fully connected
  /// Without a value: an eighth of a minibatch, at least 16.
  std::optional<int64_t> ticket_samples = {};
  WireType wire = WireType::f16;  // f32: exact; i8: parameter gradients in i8, all else in f16
  bool alone = false;             // true: train on this machine until join()
  TrustOptions trust = {};
  double patience = 30;  // seconds without a result before the server computes tickets itself;
                         // grows if nodes are slow or the plan expects it
  std::function<bool()> stop = {};  // called while training is paused; true: the step ends at once
  ServerRate server = {};
};

class PoolUpdater : public nn::Updater {
 public:
  /// All references must outlive this. Throws Error if `options.border` does not split the network.
  PoolUpdater(nn::Network& network, nn::Optimizer& optimizer, nn::Iterator& iterator,
              const nn::Schedule& schedule, Channel& channel,
              const PoolTrainingOptions& options = {});

  /// The result of a step does not depend on the nodes or on the order of their answers. In
  /// automatic mode the nodes at the start of an epoch decide the mode. Until there are nodes, this
  /// calls Updater::update(). If a node sends a wrong result, its earlier unchecked results may be
  /// wrong too. The steps with these results are then trained again, up to
  /// TrustOptions::undo_steps. If training diverges after unchecked results, these steps are
  /// trained again and every result is checked. Throws nn::Diverged if they diverge again.
  Result update() override;
  bool computes_alone() const override { return false; }

  /// Uses the pool from now on. Further calls have no effect.
  void join() { joined_ = true; }
  bool joined() const { return joined_; }

  /// The current mode. It is automatic until the first decision.
  PoolMode mode() const { return mode_; }
  const GatherCounts& counts() const { return gather_.counts(); }

  /// The median time of the last steps with the present nodes, and the time that plan_step()
  /// estimates. None before such a step, and if the network has no border.
  struct StepSeconds {
    double measured, planned;
  };
  std::optional<StepSeconds> step_seconds() const;

 private:
  /// A minibatch that is split into tickets.
  struct SplitMinibatch {
    nn::Batch batch;
    std::vector<int64_t> first, count;
    std::vector<std::string> samples;  // hashes
    TrainingTicket ticket;             // the common fields of all tickets

    TrainingTicket ticket_of(size_t i, Work work) const;
  };

  bool decide();
  bool checks_all() const;
  Result train_step();
  void undo(int64_t first, const std::string& why);
  std::optional<StepShape> shape();
  void plan();
  void note_step(double seconds);
  void build_networks();
  void prepare();
  void split_minibatch(SplitMinibatch& minibatch);
  void put_weights(SplitMinibatch& minibatch);
  void put_delta(SplitMinibatch& minibatch, ByteView weights);
  std::string put_samples(nn::Batch& batch, int64_t first, int64_t count);
  MinibatchPart make_part(const TrainingTicket& ticket, int64_t samples,
                          std::vector<MinibatchPart::Expected> expected) const;
  std::vector<MinibatchPart::Expected> expected_gradients();
  void add_expected_states(std::vector<MinibatchPart::Expected>& expected);
  Result step_by_gradients(const SplitMinibatch& minibatch);
  Result step_over_border(const SplitMinibatch& minibatch);
  std::vector<MinibatchPart> gradient_parts(const SplitMinibatch& minibatch);
  std::vector<MinibatchPart> forward_parts(const SplitMinibatch& minibatch);
  std::vector<MinibatchPart> backward_parts(const SplitMinibatch& minibatch,
                                            const std::vector<MinibatchPart>& forward,
                                            const Tensor& gradient);
  nn::Network::Loss run_head(const SplitMinibatch& minibatch, const Tensor& activations,
                             Tensor* gradient);
  void add_gradients(const SplitMinibatch& minibatch, const std::vector<MinibatchPart>& parts,
                     bool means);
  void average_states(const SplitMinibatch& minibatch, const std::vector<MinibatchPart>& parts);
  int64_t ticket_samples() const;

  Channel& channel_;
  PoolTrainingOptions options_;
  PoolMode mode_;
  uint64_t memory_bytes_ = 0;  // that a node needs for a ticket
  bool joined_;
  ResultGather gather_;
  Snapshots snapshots_;
  int64_t checked_until_ = 0;  // after a divergence: all results are checked before this step
  std::optional<nn::Network> backbone_, head_;
  std::vector<std::string>
      order_;                 // parameter names in the weights blob; those with gradients first
  size_t gradients_ = 0;      // the number of those with gradients
  int64_t sample_bytes_ = 0;  // per sample in the last ticket
  ByteVector last_weights_;   // of the last step, as nodes have them
  std::string last_hash_;     // of last_weights_
  double weights_share_ = 1;  // bytes of the last delta relative to the weights; 1: no delta
  bool made_ = false;         // the networks are built for the current mode
  uint64_t seed_ = 0;
  std::string network_hash_;
  std::vector<NodeRate> nodes_;      // the nodes of the last step
  std::optional<double> planned_;    // seconds of a step with nodes_
  std::deque<double> step_seconds_;  // measured
};

}  // namespace kaiseki::dist
