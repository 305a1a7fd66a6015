// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>
#include <utility>

#include "dist/net/author.h"

namespace kaiseki::dist {
namespace {

constexpr double kYoungest = 5;  // seconds; tickets may not name younger blobs yet

class LocalAuthor final : public Author {
 public:
  LocalAuthor(Pool& pool, BlobStore& blobs, AuthorWork work)
      : pool_(pool),
        blobs_(blobs),
        work_(std::move(work)),
        blob_project_(pool.create_project(work_.name + ": data")) {}

  void batch(const std::function<void()>& calls) override { pool_.batch(calls); }
  std::vector<NodeStatus> nodes() override {
    std::vector<NodeStatus> nodes = pool_.nodes();
    std::erase_if(nodes, [this](const NodeStatus& node) {
      const auto& functions = node.info.functions;
      return std::ranges::find(functions, work_.function) == functions.end() ||
             (!work_.public_data && !node.info.trusted);
    });
    return nodes;
  }
  void expel(const NodeId& node, const ExpulsionReason& reason) override {
    if (pool_.node(node)) pool_.expel(node, reason);
  }

  void put_blob(const BlobHash& hash, ByteView bytes) override {
    blobs_.put(bytes);
    pool_.keep_blob(blob_project_, hash);
  }
  void release_blob(const BlobHash& hash) override { pool_.release_blob(blob_project_, hash); }
  BlobHash store(ByteView bytes) override { return blobs_.put(bytes); }

  TicketId add_tickets(std::span<const TicketSpec> tickets, uint64_t memory_bytes) override {
    if (!task_)
      task_ = pool_.create_task(pool_.create_project(work_.name),
                                {.name = work_.name,
                                 .function = work_.function,
                                 .verification = Verification::none,  // the author checks results
                                 .max_attempts = kAuthorAttempts,
                                 .public_data = work_.public_data,
                                 .memory_bytes = memory_bytes});
    return pool_.add_tickets(*task_, tickets);
  }
  TaskState state() override { return task_ ? pool_.task(*task_).state : TaskState::running; }
  void forget(TicketId through) override { pool_.drop(task_.value(), through); }
  void abandon(TicketId through) override { pool_.abandon(task_.value(), through); }
  ByteVector result(const Finished& finished) override { return pool_.result(finished); }
  void sweep() override { pool_.collect_blobs(kYoungest); }

 private:
  Pool& pool_;
  BlobStore& blobs_;
  const AuthorWork work_;
  const ProjectId blob_project_;  // keeps the blobs
  std::optional<TaskId> task_ = {};
};

}  // namespace

std::unique_ptr<Author> local_author(Pool& pool, BlobStore& blobs, const AuthorWork& work) {
  return std::make_unique<LocalAuthor>(pool, blobs, work);
}

}  // namespace kaiseki::dist
