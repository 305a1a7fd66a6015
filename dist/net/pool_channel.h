// SPDX-License-Identifier: MIT
// PoolChannel: training's channel over a pool, in this process or elsewhere. Training and the
// pool's author have a thread each; what one says to the other goes through one queue each way.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "dist/net/author.h"
#include "dist/train/channel.h"

namespace kaiseki::dist {

class PoolChannel final : public Channel {
 public:
  /// `post` runs a call on the author's thread, in order; until start() there are no nodes.
  explicit PoolChannel(std::function<void(std::function<void()>)> post) : post_(std::move(post)) {}

  // Channel, for the thread that trains. receive() throws Error when the pool cannot go on (a full
  // disk, the task was cancelled); then nothing comes any more.
  std::vector<NodeRate> nodes() override;
  void put_blob(BlobKind kind, const std::string& hash,
                std::shared_ptr<const ByteVector> bytes) override;
  void drop_blob(const std::string& hash) override;
  void submit(uint64_t id, const Submission& ticket) override;
  void close(uint64_t id) override;
  std::optional<TicketResult> receive(double seconds) override;
  bool held() override;
  void expel(const std::string& node, const std::string& reason) override;

  // For the author's thread.
  /// Once, before nodes can come.
  void start(std::unique_ptr<Author> author) { author_ = std::move(author); }
  /// What PoolOptions::on_finished is to call.
  void finished(const Finished& one);
  /// Nodes came or went, or the task was paused or the like.
  void changed() {
    schedule([] {});
  }
  /// No result will come any more: receive() says why.
  void fail(const std::string& problem);

 private:
  struct Ticket {
    std::shared_ptr<const ByteVector> bytes;
    uint64_t max_result = 0;
    double work = 1;
    std::string prefer = {};
    enum class State : uint8_t { here, in_pool, done } state = State::here;
    TicketId of_pool = 0;
  };
  struct Blob {
    std::shared_ptr<const ByteVector> bytes;
    bool stored = false;
  };

  void schedule(std::function<void()> command);
  void run();
  void lost();
  void close_ticket(uint64_t id);
  void tidy();
  void look_for_nodes();
  void look_at_state();
  void hand_over();
  TicketSpec spec_of(const Ticket& ticket);

  const std::function<void(std::function<void()>)> post_;

  std::mutex mutex_;  // of these
  std::condition_variable woken_;
  std::deque<std::function<void()>> commands_;
  std::deque<TicketResult> results_;
  std::vector<NodeRate> nodes_;
  std::string problem_;
  bool scheduled_ = false, held_ = false;

  // The training thread's.
  std::set<uint64_t> open_;
  uint64_t delivered_ = 0;  // by the last receive()

  // The author's thread's.
  std::unique_ptr<Author> author_;
  std::map<uint64_t, Ticket> tickets_;
  std::map<TicketId, uint64_t> by_pool_;
  std::map<std::string, Blob> blobs_;
  TicketId last_ = 0;       // given to the pool
  bool abandoned_ = false;  // the pool has a ticket that nobody wants any more
  bool has_nodes_ = false;
  double swept_ = 0;
};

}  // namespace kaiseki::dist
