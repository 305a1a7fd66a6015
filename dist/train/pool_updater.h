// SPDX-License-Identifier: MIT
// PoolUpdater: an iteration of training whose gradients the nodes of a pool compute (MILJS paper,
// section 3.4). docs/pool-training.md says what it promises.
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
#include "nn/train/updater.h"

namespace kaiseki::dist {

struct PoolTrainingOptions {
  PoolMode mode = PoolMode::automatic;
  std::string border = {};        // the head's last layer; empty: before the first fully connected
  int64_t ticket_samples = 0;     // 0: an eighth of a minibatch, but 16 or more
  WireType wire = WireType::f16;  // f32: exact; i8: gradients of parameters with 8 bits, else f16
  bool alone = false;             // until join(): one machine
  TrustOptions trust = {};
  double patience = 30;  // seconds without a result, then the server computes tickets itself; more
                         // when nodes are slow, or are to be by the plan
  std::function<bool()> stop = {};  // asked while training is paused: true: its step ends at once
  Normalisation samples = {};       // what the data set made of bytes, so that bytes can travel
  ServerRate server = {};
};

class PoolUpdater : public nn::Updater {
 public:
  /// All must live as long as this. Throws Error for a border that does not cut the network.
  PoolUpdater(nn::Network& network, nn::Optimizer& optimizer, nn::Iterator& iterator,
              const nn::Schedule& schedule, Channel& channel,
              const PoolTrainingOptions& options = {});

  /// A step does not depend on which nodes there are, whether any, and who answers first. With the
  /// mode automatic those that are there when an epoch begins decide it; until there are some, this
  /// is Updater::update().
  Result update() override;

  /// Training alone is over; again does nothing.
  void join() { joined_ = true; }
  bool joined() const { return joined_; }

  /// As it was decided last; automatic before.
  PoolMode mode() const { return mode_; }
  const GatherCounts& counts() const { return gather_.counts(); }

  /// Of the last steps with the nodes that are there now: what a step took, their median, and what
  /// plan_step() says that it takes. Zeros before such steps, and when the network has no border.
  struct StepSeconds {
    double measured = 0, planned = 0;
  };
  StepSeconds step_seconds() const;

 private:
  /// A minibatch as tickets.
  struct Cut {
    nn::Batch batch;
    std::vector<int64_t> first, count;
    std::vector<std::string> samples;  // hashes
    std::string weights;
    Ticket ticket;  // what all of them have in common

    Ticket part(size_t i, Work work) const;
  };

  bool decide();
  std::optional<StepShape> shape();
  void plan();
  void note_step(double seconds);
  void make_parts();
  void prepare();
  Cut cut();
  void put_weights(Cut& cut);
  std::string put_samples(Tensor images);
  Piece piece(const Ticket& ticket, int64_t samples, std::vector<Piece::Wanted> wanted) const;
  std::vector<Piece::Wanted> wanted_gradients();
  void add_wanted_states(std::vector<Piece::Wanted>& wanted);
  Result step_by_gradients(const Cut& cut);
  Result step_over_border(const Cut& cut);
  std::vector<Piece> gradient_pieces(const Cut& cut);
  std::vector<Piece> forward_pieces(const Cut& cut);
  std::vector<Piece> backward_pieces(const Cut& cut, const std::vector<Piece>& forward,
                                     const Tensor& gradient);
  nn::Network::Loss run_tail(const Cut& cut, const Tensor& activations, Tensor* gradient);
  void add_gradients(const Cut& cut, const std::vector<Piece>& pieces, bool means);
  void average_states(const Cut& cut, const std::vector<Piece>& pieces);
  int64_t ticket_samples() const;

  Channel& channel_;
  PoolTrainingOptions options_;
  PoolMode mode_;
  bool joined_;
  Gather gather_;
  std::optional<nn::Network> head_, tail_;
  std::vector<std::string> order_;  // of parameters in the weights: those for gradients first
  size_t gradients_ = 0;            // how many
  int64_t sample_bytes_ = 0;        // of one, as the last ticket has them
  bool made_ = false;               // all this, for the mode
  uint64_t seed_ = 0;
  std::string network_hash_;
  std::vector<NodeRate> nodes_;      // of the last step
  double planned_ = 0;               // seconds of a step with them; 0: there is no plan
  std::deque<double> step_seconds_;  // that it took
};

}  // namespace kaiseki::dist
