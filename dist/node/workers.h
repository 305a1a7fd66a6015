// SPDX-License-Identifier: MIT
// Workers: threads that run jobs in the order of their arrival. A job that takes too long is
// abandoned. Its thread continues alone, and another thread takes its place.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace kaiseki::dist {

class Workers {
 public:
  struct Job {
    /// Called when a thread begins the job.
    std::function<void()> begin;
    /// The work. Returns a call that reports the result. The work may continue after the Workers
    /// ended, so it uses only its own objects.
    std::function<std::function<void()>()> work;
    /// Called by abandon_overdue() instead of the report.
    std::function<void()> overdue;
  };

  /// The limit of a job, in seconds.
  Workers(int threads, double seconds);
  ~Workers();
  void add(Job job);
  /// Abandons the jobs that take too long. Call it from time to time.
  void abandon_overdue();
  /// Discards the jobs that wait, and waits for those that run, at most until they take too long.
  /// Returns how many jobs were abandoned since the start.
  int end();

 private:
  struct State;
  void start_thread();
  static void run(State& state, int number);

  const std::shared_ptr<State> state_;  // the threads of abandoned jobs use it too
};

}  // namespace kaiseki::dist
