// SPDX-License-Identifier: MIT
#include "dist/net/author.h"

namespace kaiseki::dist {
namespace {

constexpr double kYoungest = 5;  // seconds: younger blobs may not be named yet

class LocalAuthor final : public Author {
 public:
  LocalAuthor(Pool& pool, BlobStore& blobs)
      : pool_(pool), blobs_(blobs), kept_(pool.create_project("training: weights and samples")) {}

  void batch(const std::function<void()>& calls) override { pool_.batch(calls); }
  std::vector<NodeStatus> nodes() override { return pool_.nodes(); }
  void expel(const NodeId& node, const std::string& reason) override {
    if (pool_.node(node)) pool_.expel(node, reason);
  }

  void put_blob(const BlobHash& hash, ByteView bytes) override {
    blobs_.put(bytes);
    pool_.keep_blob(kept_, hash);
  }
  void release_blob(const BlobHash& hash) override { pool_.release_blob(kept_, hash); }
  BlobHash store(ByteView bytes) override { return blobs_.put(bytes); }

  TicketId add_tickets(std::span<const TicketSpec> tickets) override {
    if (task_ == 0)
      task_ = pool_.create_task(
          pool_.create_project("training"),
          {.name = "training", .function = kTrainingFunction, .max_attempts = kTrainingAttempts});
    return pool_.add_tickets(task_, tickets);
  }
  TaskState state() override { return task_ == 0 ? TaskState::running : pool_.task(task_).state; }
  void forget(TicketId through) override { pool_.drop(task_, through); }
  void abandon(TicketId through) override { pool_.abandon(task_, through); }
  ByteVector result(const Finished& finished) override { return pool_.result(finished); }
  void sweep() override { pool_.collect_blobs(kYoungest); }

 private:
  Pool& pool_;
  BlobStore& blobs_;
  const ProjectId kept_;  // keeps the blobs
  TaskId task_ = 0;       // 0: none yet
};

}  // namespace

std::unique_ptr<Author> local_author(Pool& pool, BlobStore& blobs) {
  return std::make_unique<LocalAuthor>(pool, blobs);
}

}  // namespace kaiseki::dist
