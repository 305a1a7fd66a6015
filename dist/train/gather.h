// SPDX-License-Identifier: MIT
// ResultGather: sends tickets to nodes and checks their results. It computes the tickets that no
// node finishes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "dist/train/channel.h"
#include "dist/train/norm_gate.h"
#include "dist/train/training_node.h"
#include "dist/train/trust.h"

namespace kaiseki::dist {

/// A part of a minibatch: its ticket, and the expected tensors of its result.
struct MinibatchPart {
  struct Expected {
    std::string name;
    Shape shape;
    bool gradient = false;
    WireType type = WireType::f32;
    Tensor before = {};  // the previous value, on the CPU; the result differs little from it
  };
  ByteVector ticket;
  std::vector<Expected> expected;
  uint64_t max_bytes = 0;     // maximum size of the result
  double work = 1;            // passes over the samples: forward counts 1, backward 2
  std::string prefer = {};    // a node that has data of this part already
  uint64_t memory_bytes = 0;  // that a node needs to compute it

  std::optional<TensorMessage> result = {};
  std::string node = {};                  // the node that sent the result; empty: this process
  std::optional<TensorMessage> own = {};  // the result of this process, if it checked that one
};

/// Counts since the start.
struct GatherCounts {
  int64_t accepted = 0;   // results of nodes that counted
  int64_t by_server = 0;  // tickets that this process computed
  int64_t checked = 0;    // results of nodes that this process computed again
  int64_t refused = 0;    // malformed results, or results of another ticket
  int64_t late = 0;       // results for tickets that were done
  int64_t expelled = 0;   // expelled nodes
  int64_t undone = 0;     // steps that were trained again after an expulsion
};

class ResultGather {
 public:
  /// The channel must outlive this. `patience`: seconds without a result before this process
  /// computes tickets itself. The time grows if nodes are slow. It halves after each round without
  /// a result in time, until a result counts or the nodes change. collect() calls `stop` while the
  /// channel is paused. If `stop` returns true, this process computes the tickets, so that training
  /// can end.
  ResultGather(Channel& channel, Device device, const TrustOptions& trust, double patience,
               std::function<bool()> stop = {});
  ~ResultGather();

  /// Stores a blob for nodes and for this process. Returns its hash.
  std::string put(BlobKind kind, ByteVector bytes);
  void drop(const std::string& hash);

  /// The nodes changed. `seconds`: the planned time for all parts. collect() waits three times as
  /// long for a result, until that time has passed once.
  void expect(double seconds) {
    planned_ = seconds;
    patience_factor_ = 1;
  }
  /// Sends the parts without a result, and those with a result of an expelled node.
  void send(std::span<MinibatchPart> parts);
  /// Waits until all parts have a result. Pass the same span as to send().
  void collect(std::span<MinibatchPart> parts);
  /// Whether one of the results came from an expelled node.
  bool any_expelled(std::span<const MinibatchPart> parts) const;

  /// Further results count in this training step.
  void begin_step(int64_t step) { step_ = step; }
  /// Decides which results count without a check.
  Trust& trust() { return trust_; }
  /// The last expelled node. Empty: none.
  const std::string& last_expelled() const { return last_expelled_; }
  /// Forgets the norms of earlier results, as later results are of another kind.
  void forget_norms() { gate_.clear(); }
  /// Closes all open tickets after an exception.
  void abandon();
  /// The caller trains the steps from `first` to `last` again, without results of expelled nodes.
  void undo(int64_t first, int64_t last);

  const GatherCounts& counts() const { return counts_; }

 private:
  void submit(std::span<MinibatchPart> parts, size_t index);
  void close(uint64_t id);
  double patience() const;
  bool is_paused();
  void take(std::span<MinibatchPart> parts, TicketResult result);
  void compute_here(std::span<MinibatchPart> parts, uint64_t id);
  void finish(MinibatchPart& part, uint64_t id, TensorMessage own);
  /// Replaces the result of an expelled node by the server's own, or by a new ticket.
  void replace(std::span<MinibatchPart> parts, size_t index);
  TensorMessage compute(const MinibatchPart& part);
  void expel(std::span<MinibatchPart> parts, const std::string& node,
             const ExpulsionReason& reason);

  Channel& channel_;
  TrainingNode own_;
  Trust trust_;
  NormGate gate_;
  int64_t step_ = 0;
  std::string last_expelled_;
  double patience_, planned_ = 0;
  double slowest_ = 0;  // longest wait for a result in seconds; halves after each round
  double patience_factor_ =
      1;  // factor of patience; halves after each round without a result in time
  std::function<bool()> stop_;
  std::map<std::string, std::shared_ptr<const ByteVector>> blobs_;
  std::map<uint64_t, size_t> open_;  // the index of the part by ticket
  uint64_t next_id_ = 1;
  GatherCounts counts_;
};

/// Throws ParseError if the result does not match the part's expected tensors.
TensorMessage check_result(const MinibatchPart& part, ByteView bytes);

/// How far a result is from the server's own.
struct Comparison {
  /// No tensor differs by more than kTolerance of its scale.
  bool agree = true;
  /// The largest difference of a tensor, relative to its scale. In i8 each value may also differ by
  /// one step of its block's scale. Nodes may round with other random numbers.
  double deviation = 0;
};
constexpr double kTolerance = 0.01;
/// The scale of a tensor is its norm, but at least NormGate::usual(). In a small tensor a
/// difference does no more harm than in a usual one. A gradient that is zero except for rounding
/// has a share of the largest gradient's scale. An example is the gradient of a bias before a batch
/// normalization.
Comparison compare(const MinibatchPart& part, const TensorMessage& given, const TensorMessage& own,
                   const NormGate& gate);

}  // namespace kaiseki::dist
