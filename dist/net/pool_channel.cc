// SPDX-License-Identifier: MIT
#include "dist/net/pool_channel.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "matrix/error.h"
#include "matrix/log.h"

namespace kaiseki::dist {
namespace {

constexpr double kSweepSeconds = 5;  // weights of steps that are over leave the disk so often
constexpr std::chrono::milliseconds kHeld(200);  // then it is asked whether training is to end

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::vector<NodeRate> PoolChannel::nodes() {
  const std::lock_guard lock(mutex_);
  return nodes_;
}

void PoolChannel::put_blob(BlobKind, const std::string& hash,
                           std::shared_ptr<const ByteVector> bytes) {
  schedule([this, hash, bytes = std::move(bytes)] {
    blobs_.try_emplace(hash, Blob{bytes, false});
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
  schedule([this, id, ticket] { tickets_[id] = ticket; });
}

void PoolChannel::close(uint64_t id) {
  open_.erase(id);
  schedule([this, id] { close_ticket(id); });
}

std::optional<TicketResult> PoolChannel::receive(double seconds) {
  if (const uint64_t again = std::exchange(delivered_, 0); open_.contains(again))
    schedule([this, again] { tickets_.at(again).state = Ticket::State::here; });
  std::unique_lock lock(mutex_);
  auto is_over = [&] { return !problem_.empty() || !results_.empty() || held_ || nodes_.empty(); };
  if (held_)
    woken_.wait_for(lock, kHeld, [&] { return !held_ || !problem_.empty() || !results_.empty(); });
  woken_.wait_for(lock, std::chrono::duration<double>(seconds), is_over);
  if (!problem_.empty()) throw Error(problem_);
  if (results_.empty()) return std::nullopt;
  TicketResult result = std::move(results_.front());
  results_.pop_front();
  delivered_ = result.ticket;
  return result;
}

bool PoolChannel::held() {
  const std::lock_guard lock(mutex_);
  return held_;
}

void PoolChannel::expel(const std::string& node, const std::string& reason) {
  schedule([this, node, reason] { author_->expel(node, reason); });
}

void PoolChannel::schedule(std::function<void()> command) {
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
    if (std::exchange(scheduled_, true)) return;
  }
  post_([this] { run(); });
}

void PoolChannel::run() {
  std::deque<std::function<void()>> commands;
  {
    const std::lock_guard lock(mutex_);
    commands.swap(commands_);
    scheduled_ = false;
    if (!problem_.empty()) return;
  }
  try {
    author_->batch([&] {
      for (const auto& command : commands) command();
      if (!author_->ready()) return;
      tidy();
      look_for_nodes();
      look_at_state();
      if (has_nodes_) hand_over();
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

/// The pool has nothing of this any more; until it is back there are no nodes.
void PoolChannel::lost() {
  for (auto& [hash, blob] : blobs_) blob.stored = false;
  for (auto& [id, ticket] : tickets_)
    if (ticket.state == Ticket::State::in_pool) ticket.state = Ticket::State::here;
  by_pool_.clear();
  last_ = 0;
  abandoned_ = has_nodes_ = false;
  const std::lock_guard lock(mutex_);
  nodes_.clear();
  held_ = false;
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
    by_pool_.erase(found->second.of_pool);
    abandoned_ = true;
  }
  tickets_.erase(found);
}

/// Between steps the pool forgets tickets.
void PoolChannel::tidy() {
  if (!tickets_.empty() || last_ == 0) return;
  if (std::exchange(abandoned_, false))
    author_->abandon(last_);
  else
    author_->forget(last_);
  last_ = 0;
}

void PoolChannel::look_for_nodes() {
  std::vector<NodeRate> nodes;
  for (const NodeStatus& node : author_->nodes()) {
    const auto& functions = node.info.functions;
    if (!node.connected || !node.expelled.empty() ||
        std::ranges::find(functions, kTrainingFunction) == functions.end())
      continue;
    NodeRate rate{.name = node.id};
    if (node.info.gflops > 0) rate.gflops = node.info.gflops;
    const LinkSpeed& link = node.info.link;
    if (link.down_mbit_s > 0) rate.down_mbit_s = link.down_mbit_s;
    if (link.up_mbit_s > 0) rate.up_mbit_s = link.up_mbit_s;
    if (link.down_mbit_s > 0) rate.round_trip_s = link.round_trip_s;
    rate.at_once = std::min(node.info.threads, kTrainingHeld);
    nodes.push_back(rate);
  }
  has_nodes_ = !nodes.empty();
  const std::lock_guard lock(mutex_);
  nodes_ = std::move(nodes);
  if (!has_nodes_) woken_.notify_all();
}

/// What the operator wants holds for all steps: the task stays the same.
void PoolChannel::look_at_state() {
  const TaskState state = author_->state();
  if (state == TaskState::cancelled)
    throw Error(
        "[pool] expected the training's task to go on, got it cancelled at the coordinator; "
        "--resume goes on from the last checkpoint");
  const std::lock_guard lock(mutex_);
  const bool held = state == TaskState::paused;
  if (std::exchange(held_, held) == held) return;
  if (held)
    log_warning("training waits until it is resumed at the coordinator, where it was paused");
  else
    log_info("training goes on");
  woken_.notify_all();
}

/// To the pool what it does not have yet.
void PoolChannel::hand_over() {
  for (auto& [hash, blob] : blobs_) {
    if (blob.stored) continue;
    author_->put_blob(hash, *blob.bytes);
    blob.stored = true;
  }
  std::vector<TicketSpec> specs;
  std::vector<uint64_t> ids;
  for (const auto& [id, ticket] : tickets_) {
    if (ticket.state != Ticket::State::here) continue;
    ids.push_back(id);
    specs.push_back(spec_of(ticket));
  }
  if (specs.empty()) return;
  const TicketId first = author_->add_tickets(specs);
  for (size_t i = 0; i < ids.size(); ++i) {
    Ticket& ticket = tickets_.at(ids[i]);
    ticket.state = Ticket::State::in_pool;
    ticket.of_pool = last_ = first + static_cast<TicketId>(i);
    by_pool_[last_] = ids[i];
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
