// SPDX-License-Identifier: MIT
// LocalNodes: a channel to nodes in this process. The nodes compute real results. A seed decides
// when they join, answer and die, so every run is the same.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "dist/train/channel.h"
#include "dist/train/training_node.h"
#include "matrix/random.h"

namespace kaiseki::dist {

using LocalCompute = std::function<ByteVector(ByteView ticket)>;
/// Returns a node's result of a ticket. `compute` returns the right one.
using LocalAnswer = std::function<ByteVector(ByteView ticket, const LocalCompute& compute)>;

struct LocalNode {
  std::string name;
  double seconds = 1;    // mean time of a ticket; a ticket takes 0.5 to 1.5 times that
  int64_t joins_at = 0;  // joins after this number of submitted tickets
  std::optional<int64_t> dies_after = {};  // dies at the ticket after this number of answers
  LocalAnswer answer = {};                 // empty: the right result
};

struct LocalBytes {
  uint64_t network = 0, weights = 0, samples = 0;  // bytes of blobs that nodes fetched
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
  void expel(const std::string& node, const ExpulsionReason& reason) override;

  const LocalBytes& bytes() const { return bytes_; }
  /// Simulated time in seconds.
  double now() const { return now_; }
  const std::vector<std::string>& expelled() const { return expelled_; }
  /// The numbers of blobs and of open tickets.
  size_t blobs() const { return blobs_.size(); }
  size_t open() const { return open_.size(); }
  /// The node answers so from now on.
  void set_answer(const std::string& node, const LocalAnswer& answer);

 private:
  struct Open {
    ByteVector bytes;
    std::string prefer;
  };
  struct RunningNode {
    LocalNode of;
    std::unique_ptr<TrainingNode> node = {};
    bool alive = true;
    std::optional<uint64_t> ticket = {};  // empty: idle
    Open work = {};
    double done = 0;
    int64_t answered = 0;
  };

  bool is_present(const RunningNode& node) const {
    return node.alive && node.of.joins_at <= submitted_;
  }
  int holders(uint64_t id) const;
  std::optional<uint64_t> choose(const RunningNode& node) const;
  void assign();
  ByteVector compute(RunningNode& node);

  std::vector<RunningNode> nodes_;
  Random random_;
  std::map<uint64_t, Open> open_;
  struct LocalBlob {
    BlobKind kind;
    std::shared_ptr<const ByteVector> bytes;
  };
  std::map<std::string, LocalBlob> blobs_;
  std::vector<std::string> expelled_;
  std::optional<TicketResult> duplicate_;  // a result that receive() returns a second time
  int64_t submitted_ = 0;
  double now_ = 0;
  LocalBytes bytes_;
};

}  // namespace kaiseki::dist
