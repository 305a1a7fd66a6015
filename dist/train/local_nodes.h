// SPDX-License-Identifier: MIT
// LocalNodes: a pool in this process. Nodes compute really; when they answer, die and join is
// simulated, by seed, and so the same in every run.
#pragma once

#include <map>
#include <set>

#include "dist/train/channel.h"
#include "dist/train/training_node.h"
#include "matrix/random.h"

namespace kaiseki::dist {

/// What a hostile node gives for its result.
enum class Lie : uint8_t {
  none,
  sign_flipped,
  wrong_shape,
  wrong_type,
  not_finite,
  replayed,
  noise,
  oversized
};

struct LocalNode {
  std::string name;
  double seconds = 1;        // for a ticket: it takes from half to one and a half of them
  int64_t joins_at = 0;      // tickets that were submitted before it joins
  int64_t dies_after = -1;   // tickets that it answers; it never answers the next. -1: never
  int64_t honest_until = 0;  // tickets that it answers before it lies
  Lie lie = Lie::none;
};

struct LocalBytes {
  uint64_t network = 0, weights = 0, samples = 0;  // blobs that nodes fetched
  uint64_t tickets = 0, results = 0;
};

class LocalNodes : public Channel {
 public:
  LocalNodes(std::vector<LocalNode> nodes, uint64_t seed);

  std::vector<NodeRate> nodes() override;
  void put_blob(BlobKind kind, const std::string& hash,
                std::shared_ptr<const ByteVector> bytes) override;
  void drop_blob(const std::string& hash) override;
  void submit(uint64_t id, const Submission& ticket) override;
  void close(uint64_t id) override;
  std::optional<TicketResult> receive(double seconds) override;
  void expel(const std::string& node, const std::string& reason) override;

  const LocalBytes& bytes() const { return bytes_; }
  /// Simulated seconds so far.
  double now() const { return now_; }
  const std::vector<std::string>& expelled() const { return expelled_; }
  /// Blobs that are here now.
  size_t blobs() const { return blobs_.size(); }

 private:
  struct Open {
    ByteVector bytes;
    std::string prefer;
  };
  struct Node {
    LocalNode of;
    std::unique_ptr<TrainingNode> node = {};
    bool alive = true;
    uint64_t ticket = 0;  // 0: idle
    Open work = {};
    double done = 0;
    int64_t answered = 0;
    ByteVector last = {};
  };

  bool here(const Node& node) const { return node.alive && node.of.joins_at <= submitted_; }
  int holders(uint64_t id) const;
  uint64_t choose(const Node& node) const;
  void assign();
  ByteVector compute(Node& node);
  ByteVector lie(Node& node, ByteVector result);

  std::vector<Node> nodes_;
  Random random_;
  std::map<uint64_t, Open> open_;
  struct Blob {
    BlobKind kind;
    std::shared_ptr<const ByteVector> bytes;
  };
  std::map<std::string, Blob> blobs_;
  std::vector<std::string> expelled_;
  TicketResult again_;  // a result that comes twice
  int64_t submitted_ = 0;
  double now_ = 0;
  LocalBytes bytes_;
};

}  // namespace kaiseki::dist
