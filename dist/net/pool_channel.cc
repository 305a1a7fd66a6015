// SPDX-License-Identifier: MIT
#include "dist/net/pool_channel.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "dist/train/task_cancelled.h"

namespace kaiseki::dist {
namespace {

constexpr double kSweepSeconds = 5;                    // between two deletions of old weights
constexpr std::chrono::milliseconds kPausedWait(200);  // between two checks whether training ends

}  // namespace

std::vector<NodeRate> PoolChannel::nodes() {
  const std::lock_guard lock(mutex_);
  return nodes_;
}

void PoolChannel::put_blob(BlobKind, const std::string& hash,
                           std::shared_ptr<const ByteVector> bytes) {
  schedule([this, hash, bytes = std::move(bytes)] {
    blobs_.try_emplace(hash, SentBlob{bytes, false});
  });
}

void PoolChannel::drop_blob(const std::string& hash) {
  schedule([this, hash] {
    const auto found = blobs_.find(hash);
    if (found == blobs_.end()) return;
    if (found->second.stored) author_->release_blob(hash);
    blobs_.erase(found);
  });
}

void PoolChannel::submit(uint64_t id, const Submission& given) {
  open_.insert(id);
  const Ticket ticket = {.bytes = std::make_shared<const ByteVector>(given.ticket),
                         .max_result = given.max_result,
                         .work = given.work,
                         .prefer = given.prefer};
  schedule([this, id, ticket, memory = given.memory_bytes] {
    tickets_[id] = ticket;
    memory_bytes_ = std::max(memory_bytes_, memory);
  });
}

void PoolChannel::close(uint64_t id) {
  open_.erase(id);
  schedule([this, id] { close_ticket(id); });
}

std::optional<TicketResult> PoolChannel::receive(double seconds) {
  if (const uint64_t again = std::exchange(delivered_, 0); open_.contains(again))
    schedule([this, again] { tickets_.at(again).state = Ticket::State::queued; });
  std::unique_lock lock(mutex_);
  auto is_over = [&] {
    return !problem_.empty() || !results_.empty() || paused_ || nodes_.empty();
  };
  if (paused_)
    woken_.wait_for(lock, kPausedWait,
                    [&] { return !paused_ || !problem_.empty() || !results_.empty(); });
  woken_.wait_for(lock, std::chrono::duration<double>(seconds), is_over);
  if (!problem_.empty()) throw Error(problem_);
  if (results_.empty()) return std::nullopt;
  TicketResult result = std::move(results_.front());
  results_.pop_front();
  delivered_ = result.ticket;
  return result;
}

bool PoolChannel::is_paused() {
  const std::lock_guard lock(mutex_);
  return paused_;
}

void PoolChannel::expel(const std::string& node, const ExpulsionReason& reason) {
  schedule([this, node, reason] { author_->expel(node, reason); });
}

void PoolChannel::schedule(std::function<void()> command) {
  if (commands_.push(std::move(command))) post_([this] { run(); });
}

void PoolChannel::run() {
  const auto commands = commands_.take();
  {
    const std::lock_guard lock(mutex_);
    if (!problem_.empty()) return;
  }
  try {
    author_->batch([&] {
      for (const auto& command : commands) command();
      if (!author_->ready()) return;
      forget_finished();
      update_nodes();
      update_state();
      if (has_nodes_) submit_queued();
    });
    if (const double now = steady_seconds(); has_nodes_ && now - swept_ > kSweepSeconds) {
      swept_ = now;
      author_->sweep();
    }
  } catch (const AuthorLost&) {
    lost();
  } catch (const Error& error) {
    fail(error.what());
  }
}

/// The pool has lost the tickets and blobs. Until it is back there are no nodes.
void PoolChannel::lost() {
  for (auto& [hash, blob] : blobs_) blob.stored = false;
  for (auto& [id, ticket] : tickets_)
    if (ticket.state == Ticket::State::in_pool) ticket.state = Ticket::State::queued;
  by_pool_.clear();
  last_ticket_.reset();
  abandoned_ = has_nodes_ = false;
  const std::lock_guard lock(mutex_);
  nodes_.clear();
  paused_ = false;
  woken_.notify_all();
}

void PoolChannel::fail(const std::string& problem) {
  const std::lock_guard lock(mutex_);
  problem_ = problem;
  woken_.notify_all();
}

void PoolChannel::close_ticket(uint64_t id) {
  const auto found = tickets_.find(id);
  if (found == tickets_.end()) return;
  if (found->second.state == Ticket::State::in_pool) {
    by_pool_.erase(found->second.pool_ticket);
    abandoned_ = true;
  }
  tickets_.erase(found);
}

/// Deletes the pool's tickets between two steps.
void PoolChannel::forget_finished() {
  if (!tickets_.empty() || !last_ticket_) return;
  if (std::exchange(abandoned_, false))
    author_->abandon(*last_ticket_);
  else
    author_->forget(*last_ticket_);
  last_ticket_.reset();
}

void PoolChannel::update_nodes() {
  std::vector<NodeRate> nodes;
  for (const NodeStatus& node : author_->nodes()) {
    if (!node.connected || !node.expelled.empty() || node.resting > 0 ||
        memory_bytes_ > ticket_memory(node.info))
      continue;
    NodeRate rate{.name = node.id};
    if (node.info.gflops) rate.gflops = *node.info.gflops;
    const LinkSpeed link = node.info.link.value_or(LinkSpeed());
    if (link.down_mbit_s > 0) rate.down_mbit_s = link.down_mbit_s;
    if (link.up_mbit_s > 0) rate.up_mbit_s = link.up_mbit_s;
    if (link.down_mbit_s > 0) rate.round_trip_s = link.round_trip_s;
    rate.volunteer = !node.info.trusted;
    rate.at_once = std::min(node.info.threads, kTrainingHeld);
    nodes.push_back(rate);
  }
  has_nodes_ = !nodes.empty();
  const std::lock_guard lock(mutex_);
  nodes_ = std::move(nodes);
  if (!has_nodes_) woken_.notify_all();
}

/// All steps use one task, so an operator's state applies to all of them.
void PoolChannel::update_state() {
  const TaskState state = author_->state();
  if (state == TaskState::cancelled)
    throw TaskCancelled(
        message("pool", "the task \"", name_, "\" was cancelled at the coordinator"));
  const std::lock_guard lock(mutex_);
  const bool paused = state == TaskState::paused;
  if (std::exchange(paused_, paused) == paused) return;
  if (paused)
    log_warning(name_ + " is paused at the coordinator, and waits until it is resumed there");
  else
    log_info(name_ + " continues");
  woken_.notify_all();
}

/// Adds the blobs and tickets that the pool does not have yet.
void PoolChannel::submit_queued() {
  for (auto& [hash, blob] : blobs_) {
    if (blob.stored) continue;
    author_->put_blob(hash, *blob.bytes);
    blob.stored = true;
  }
  std::vector<TicketSpec> specs;
  std::vector<uint64_t> ids;
  for (const auto& [id, ticket] : tickets_) {
    if (ticket.state != Ticket::State::queued) continue;
    ids.push_back(id);
    specs.push_back(spec_of(ticket));
  }
  if (specs.empty()) return;
  const TicketId first = author_->add_tickets(specs, memory_bytes_);
  for (size_t i = 0; i < ids.size(); ++i) {
    Ticket& ticket = tickets_.at(ids[i]);
    ticket.state = Ticket::State::in_pool;
    ticket.pool_ticket = first + static_cast<TicketId>(i);
    last_ticket_ = ticket.pool_ticket;
    by_pool_[ticket.pool_ticket] = ids[i];
  }
}

TicketSpec PoolChannel::spec_of(const Ticket& ticket) {
  TicketSpec spec;
  spec.max_result_bytes = ticket.max_result;
  spec.work = ticket.work;
  spec.prefer = ticket.prefer;
  if (ticket.bytes->size() <= kMaxInput)
    spec.input = *ticket.bytes;
  else
    spec.blobs = {author_->store(*ticket.bytes)};
  return spec;
}

void PoolChannel::finished(const Finished& one) {
  const auto found = by_pool_.find(one.ticket);
  if (found == by_pool_.end()) return;
  const uint64_t id = found->second;
  by_pool_.erase(found);
  tickets_.at(id).state = Ticket::State::done;
  TicketResult result{.ticket = id, .node = one.node, .dead = one.dead};
  try {
    if (!one.dead) result.bytes = author_->result(one);
  } catch (const Error& error) {
    return fail(error.what());
  }
  const std::lock_guard lock(mutex_);
  results_.push_back(std::move(result));
  woken_.notify_all();
}

}  // namespace kaiseki::dist
