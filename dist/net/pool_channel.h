// SPDX-License-Identifier: MIT
// PoolChannel: the channel of training, or of a grid search, over a local or remote pool. The
// caller and the pool's author have a thread each. A queue in each direction connects the two.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "dist/net/author.h"
#include "dist/net/command_queue.h"
#include "dist/train/channel.h"

namespace kaiseki::dist {

class PoolChannel final : public Channel {
 public:
  /// `post` runs calls on the author's thread in order. Until start() there are no nodes.
  explicit PoolChannel(std::function<void(std::function<void()>)> post) : post_(std::move(post)) {}

  // Channel, for the training thread. receive() throws Error if the pool cannot continue, for
  // example if the disk is full or the task was cancelled. No result follows.
  std::vector<NodeRate> nodes() override;
  void put_blob(BlobKind kind, const std::string& hash,
                std::shared_ptr<const ByteVector> bytes) override;
  void drop_blob(const std::string& hash) override;
  void submit(uint64_t id, const Submission& ticket) override;
  void close(uint64_t id) override;
  std::optional<TicketResult> receive(double seconds) override;
  bool is_paused() override;
  void expel(const std::string& node, const ExpulsionReason& reason) override;

  // For the author's thread.
  /// Called once, before nodes can join. `name`: AuthorWork::name.
  void start(std::unique_ptr<Author> author, std::string name = AuthorWork().name) {
    author_ = std::move(author);
    name_ = std::move(name);
  }
  /// PoolOptions::on_finished calls it.
  void finished(const Finished& one);
  /// Nodes joined or left, or the task's state changed.
  void changed() {
    schedule([] {});
  }
  /// No result will follow. receive() throws Error with this text.
  void fail(const std::string& problem);

 private:
  struct Ticket {
    std::shared_ptr<const ByteVector> bytes;
    uint64_t max_result = 0;
    double work = 1;
    std::string prefer = {};
    enum class State : uint8_t { queued, in_pool, done } state = State::queued;
    TicketId pool_ticket = 0;
  };
  struct SentBlob {
    std::shared_ptr<const ByteVector> bytes;
    bool stored = false;
  };

  void schedule(std::function<void()> command);
  void run();
  void lost();
  void close_ticket(uint64_t id);
  void forget_finished();
  void update_nodes();
  void update_state();
  void submit_queued();
  TicketSpec spec_of(const Ticket& ticket);

  const std::function<void(std::function<void()>)> post_;

  CommandQueue commands_;
  std::mutex mutex_;  // protects the members up to paused_
  std::condition_variable woken_;
  std::deque<TicketResult> results_;
  std::vector<NodeRate> nodes_;
  std::string problem_;
  bool paused_ = false;

  // Used by the training thread.
  std::set<uint64_t> open_;
  uint64_t delivered_ = 0;  // the ticket of the last receive()

  // Used by the author's thread.
  std::unique_ptr<Author> author_;
  std::string name_;
  std::map<uint64_t, Ticket> tickets_;
  std::map<TicketId, uint64_t> by_pool_;
  std::map<std::string, SentBlob> blobs_;
  std::optional<TicketId> last_ticket_;  // the last one in the pool
  bool abandoned_ = false;               // the pool has a ticket that was closed
  bool has_nodes_ = false;
  double swept_ = 0;
  uint64_t memory_bytes_ = kDefaultMemory;  // that a ticket may need
};

}  // namespace kaiseki::dist
