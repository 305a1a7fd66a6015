// SPDX-License-Identifier: MIT
#include "dist/net/result_follower.h"

#include "base/error.h"
#include "dist/net/api_client.h"
#include "dist/net/author_json.h"

namespace kaiseki::dist {
ResultFollower::ResultFollower(const WireOptions& to,
                               std::function<void(int64_t era, const Finished&)> take)
    : lines_(to), blobs_(to), take_(std::move(take)), thread_([this] { run(); }) {}

ResultFollower::~ResultFollower() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    task_.reset();
  }
  changed_.notify_all();
  lines_.close();
  blobs_.close();
  thread_.join();
}

void ResultFollower::follow(int64_t era, TaskId task) {
  bool another = false;
  {
    const std::lock_guard lock(mutex_);
    another = era_ != era;
    if (another) problem_.clear();
    era_ = era;
    task_ = task;
    ++added_;
  }
  if (another) lines_.cancel();
  changed_.notify_all();
}

void ResultFollower::leave() {
  {
    const std::lock_guard lock(mutex_);
    task_.reset();
    problem_.clear();
  }
  lines_.cancel();
  blobs_.cancel();
}

std::string ResultFollower::problem() {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void ResultFollower::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || (task_ && added_ != seen_); });
    if (stopping_) return;
    const int64_t era = era_;
    const TaskId task = *task_;
    seen_ = added_;
    lock.unlock();
    std::string problem;
    try {
      read(era, task);
    } catch (const Error& error) {
      problem = error.what();
    }
    lock.lock();
    if (era == era_ && task == task_ && !problem.empty()) problem_ = problem;
  }
}

/// The response ends when no ticket is open. Later tickets need another request.
void ResultFollower::read(int64_t era, TaskId task) {
  if (era != last_era_) after_ = 0;
  last_era_ = era;
  follow_results(lines_, task, after_, [&](std::string_view line) { return take_line(era, line); });
}

bool ResultFollower::take_line(int64_t era, std::string_view line) {
  if (line.empty()) return true;  // keeps the connection alive
  Finished one = read_finished(parse_json(line, "results"));
  if (!one.blob.empty()) {
    HttpReply reply = blobs_.request("GET", "/blobs/" + one.blob);
    if (reply.status != 200)
      throw Error(message("pool", "expected the result ", one.blob, ", got status ", reply.status));
    one.result = std::move(reply.body);
  }
  after_ = one.sequence;
  take_(era, one);
  return true;
}

}  // namespace kaiseki::dist
