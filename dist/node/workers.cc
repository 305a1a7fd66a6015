// SPDX-License-Identifier: MIT
#include "dist/node/workers.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace kaiseki::dist {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

struct Workers::State {
  explicit State(std::chrono::duration<double> time) : longest(time) {}

  struct Running {
    Clock::time_point until;
    std::function<void()> overdue;
  };

  /// Forgets the threads whose jobs take too long. Returns the calls for these jobs.
  std::vector<std::function<void()>> abandon() {
    std::vector<std::function<void()>> calls;
    for (auto at = running.begin(); at != running.end();) {
      if (at->second.until > Clock::now()) {
        ++at;
        continue;
      }
      calls.push_back(std::move(at->second.overdue));
      threads.extract(at->first).mapped().detach();
      at = running.erase(at);
      ++abandoned;
    }
    return calls;
  }

  const std::chrono::duration<double> longest;
  std::mutex mutex;  // protects the members below
  std::condition_variable changed;
  std::deque<Job> jobs;
  std::map<int, std::thread> threads;
  std::map<int, Running> running;  // by the number of the thread
  int abandoned = 0, next = 0;
  bool ending = false;
};

Workers::Workers(int threads, double seconds)
    : state_(std::make_shared<State>(std::chrono::duration<double>(seconds))) {
  const std::lock_guard lock(state_->mutex);
  for (int i = 0; i < threads; ++i) start_thread();
}

Workers::~Workers() { end(); }

void Workers::start_thread() {
  const int number = state_->next++;
  state_->threads[number] = std::thread([state = state_, number] { run(*state, number); });
}

void Workers::add(Job job) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->jobs.push_back(std::move(job));
  }
  state_->changed.notify_one();
}

void Workers::abandon_overdue() {
  std::vector<std::function<void()>> calls;
  {
    const std::lock_guard lock(state_->mutex);
    calls = state_->abandon();
    for (size_t i = 0; i < calls.size(); ++i) start_thread();
  }
  for (const auto& call : calls) call();
}

int Workers::end() {
  State& state = *state_;
  std::map<int, std::thread> threads;
  {
    std::unique_lock lock(state.mutex);
    state.ending = true;
    state.jobs.clear();
    state.changed.notify_all();
    while (!state.running.empty()) {
      Clock::time_point until = Clock::time_point::max();
      for (const auto& [number, one] : state.running) until = std::min(until, one.until);
      state.changed.wait_until(lock, until);
      state.abandon();
    }
    threads.swap(state.threads);
  }
  for (auto& [number, thread] : threads) thread.join();
  return state.abandoned;
}

void Workers::run(State& state, int number) {
  std::unique_lock lock(state.mutex);
  for (;;) {
    state.changed.wait(lock, [&] { return state.ending || !state.jobs.empty(); });
    if (state.ending) return;
    Job job = std::move(state.jobs.front());
    state.jobs.pop_front();
    const auto longest = std::chrono::duration_cast<Clock::duration>(state.longest);
    state.running[number] = {Clock::now() + longest, std::move(job.overdue)};
    job.begin();
    lock.unlock();
    const std::function<void()> report = job.work();
    lock.lock();
    if (state.running.erase(number) == 0) return;  // abandoned
    report();
    state.changed.notify_all();
  }
}

}  // namespace kaiseki::dist
