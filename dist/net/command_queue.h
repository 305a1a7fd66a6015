// SPDX-License-Identifier: MIT
// CommandQueue: any thread adds calls, and one thread runs them in order.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace kaiseki::dist {

class CommandQueue {
 public:
  using Command = std::function<void()>;

  /// Returns whether the queue was empty. The caller then wakes the thread.
  bool push(Command command) {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
    return commands_.size() == 1;
  }
  /// Returns all commands and empties the queue.
  std::deque<Command> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(commands_, {});
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return commands_.empty();
  }

 private:
  std::mutex mutex_;
  std::deque<Command> commands_;
};

}  // namespace kaiseki::dist
