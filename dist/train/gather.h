// SPDX-License-Identifier: MIT
// Gather: has tickets computed by nodes, checks what they give, and does itself what nobody does.
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
#include "dist/train/training_node.h"
#include "dist/train/trust.h"

namespace kaiseki::dist {

/// A part of a minibatch. What its result must be is known before.
struct Piece {
  struct Wanted {
    std::string name;
    Shape shape;
    bool gradient = false;
    WireType type = WireType::f32;
  };
  ByteVector ticket;
  std::vector<Wanted> wanted;
  uint64_t max_bytes = 0;   // of a result
  double work = 1;          // passes over a sample: forward is one, backward two
  std::string prefer = {};  // a node that has something of it already

  std::optional<TensorMessage> result = {};
  std::string node = {};  // who gave it; empty: the server itself
};

/// What happened since the beginning.
struct GatherCounts {
  int64_t accepted = 0;  // results of nodes
  int64_t alone = 0;     // results of the server itself
  int64_t checked = 0;   // results of nodes that were computed again
  int64_t refused = 0;   // not well formed, or of another ticket
  int64_t late = 0;      // of tickets that were done
  int64_t expelled = 0;  // nodes
};

class Gather {
 public:
  /// The channel must live as long as this. `patience`: seconds without a result, after which the
  /// server computes tickets itself though nodes are there; more of them when nodes are slow, and
  /// half as many after each round of which they did nothing, until they do, or come or go.
  /// `stop` is asked while the channel holds the work back; true: it is done here after all, so
  /// that training can end.
  Gather(Channel& channel, Device device, const TrustOptions& trust, double patience,
         std::function<bool()> stop = {});
  ~Gather();

  /// A blob for nodes and for the server itself; gives its hash.
  std::string put(BlobKind kind, ByteVector bytes);
  void drop(const std::string& hash);

  /// The nodes are others than before, and what they are to take for all pieces: they have three
  /// times as long, until that is over once.
  void expect(double seconds) {
    planned_ = seconds;
    hope_ = 1;
  }
  /// Sends those that have no result, or one of a node that was expelled since.
  void send(std::span<Piece> pieces);
  /// Waits until all have one. The same pieces, at the same place.
  void collect(std::span<Piece> pieces);
  /// Whether one of them came from a node that was expelled since.
  bool any_expelled(std::span<const Piece> pieces) const;

  const GatherCounts& counts() const { return counts_; }

 private:
  void submit(std::span<Piece> pieces, size_t index);
  void close(uint64_t id);
  double patience() const;
  bool is_held();
  void take(std::span<Piece> pieces, TicketResult result);
  void do_here(std::span<Piece> pieces, uint64_t id);
  TensorMessage compute(const Piece& piece);
  void expel(std::span<Piece> pieces, const std::string& node, const std::string& reason);

  Channel& channel_;
  TrainingNode own_;
  Trust trust_;
  double patience_, planned_ = 0;
  double slowest_ = 0;  // seconds that a result let wait for it; half as many after each round
  double hope_ = 1;     // of the patience; half after each round of which nodes did nothing in time
  std::function<bool()> stop_;
  std::map<std::string, std::shared_ptr<const ByteVector>> blobs_;
  std::map<uint64_t, size_t> open_;  // tickets, and which piece each is of
  uint64_t next_id_ = 1;
  GatherCounts counts_;
};

/// Throws ParseError when a result is not what its ticket wants.
TensorMessage check_result(const Piece& piece, ByteView bytes);
/// Whether two results of a piece differ by no more than the rounding of two devices does: by a
/// hundredth of each tensor's norm. Of i8, each value may be a step of its block's scale off, where
/// rounding took the other side. (A gradient that is zero but for rounding, such as that of a
/// bias before a batch normalisation, is measured against the largest gradient.)
bool agree(const Piece& piece, const TensorMessage& given, const TensorMessage& own);

}  // namespace kaiseki::dist
