// SPDX-License-Identifier: MIT
// Workers: threads that run jobs in the order of their arrival.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kaiseki::dist {

class Workers {
 public:
  explicit Workers(int threads);
  /// Waits for the running jobs. Discards the others.
  ~Workers();
  void add(std::function<void()> job);

 private:
  void work();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kaiseki::dist
