// SPDX-License-Identifier: MIT
#include "matrix/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"
#include "matrix/ceil_div.h"

namespace kaiseki {
namespace {

#if defined(__x86_64__) || defined(__i386__)
inline void relax() { __builtin_ia32_pause(); }
#else
inline void relax() {}
#endif

// About 20 us: shorter than a wake-up, longer than the gap between operations of a step.
constexpr int kSpins = 2000;

struct Job {
  const std::function<void(int64_t, int64_t)>* body;
  int64_t count, grain, pieces;
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;

  void work() {
    for (;;) {
      int64_t piece = next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= pieces) return;
      try {
        throw_if_stopped();
        (*body)(piece * grain, std::min(count, (piece + 1) * grain));
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  }
};

thread_local bool inside_job = false;

class ThreadTeam {
 public:
  explicit ThreadTeam(int threads) {
    workers_.reserve(static_cast<size_t>(threads));
    try {
      for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { run(); });
    } catch (const std::system_error& error) {  // a limit of the process or the container
      problem_ =
          message("threads", "expected ", threads, " threads, got ", size(), ": ", error.what());
    }
  }

  ~ThreadTeam() {
    stop_.store(true);
    announce();
    for (auto& worker : workers_) worker.join();
  }

  int size() const { return static_cast<int>(workers_.size()) + 1; }
  const std::string& problem() const { return problem_; }

  void submit(Job& job) {
    if (workers_.empty()) return job.work();
    std::unique_lock busy(busy_, std::try_to_lock);
    if (!busy) return job.work();
    job_ = &job;
    gate_.store(0, std::memory_order_release);
    announce();
    inside_job = true;
    job.work();
    inside_job = false;
    gate_.fetch_or(kClosed, std::memory_order_relaxed);
    for (int spin = 0; gate_.load(std::memory_order_acquire) != kClosed; ++spin) {
      if (spin < kSpins)
        relax();
      else
        std::this_thread::yield();
    }
  }

 private:
  void announce() {
    generation_.fetch_add(1);
    if (sleepers_.load() == 0) return;
    { std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }

  void run() {
    inside_job = true;
    for (uint64_t seen = 0;;) {
      seen = next_generation(seen);
      if (stop_.load()) return;
      if (!enter()) continue;
      job_->work();
      gate_.fetch_sub(1, std::memory_order_release);
    }
  }

  uint64_t next_generation(uint64_t seen) {
    for (int spin = 0; spin < kSpins; ++spin) {
      if (const uint64_t now = generation_.load(std::memory_order_acquire); now != seen) return now;
      relax();
    }
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    wake_.wait(lock, [&] { return generation_.load() != seen; });
    sleepers_.fetch_sub(1);
    return generation_.load();
  }

  /// Returns false if the job has finished. The job does not wait for a thread that wakes late.
  bool enter() {
    uint32_t inside = gate_.load(std::memory_order_relaxed);
    while (!(inside & kClosed))
      if (gate_.compare_exchange_weak(inside, inside + 1, std::memory_order_acquire)) return true;
    return false;
  }

  static constexpr uint32_t kClosed = 1u << 31;

  std::vector<std::thread> workers_;
  std::string problem_;
  std::mutex busy_, mutex_;
  std::condition_variable wake_;
  std::atomic<uint64_t> generation_{0};
  // The number of workers inside the job, and a bit that is set if the job takes no more workers.
  std::atomic<uint32_t> gate_{kClosed};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stop_{false};
  Job* job_ = nullptr;
};

std::mutex team_mutex;
std::unique_ptr<ThreadTeam> team_instance;
std::atomic<ThreadTeam*> team_ready{nullptr};  // lets small operations skip the lock
std::atomic<int> requested{0};

#ifdef __linux__
int usable_cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}
#else
int usable_cores() { return 0; }
#endif

int default_threads() {
  if (int threads = environment().threads) return threads;
  if (int cores = usable_cores()) return cores;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadTeam& team() {
  if (ThreadTeam* ready = team_ready.load(std::memory_order_acquire)) return *ready;
  std::string problem;
  ThreadTeam* found;
  {
    std::lock_guard lock(team_mutex);
    if (!team_instance) {
      team_instance = std::make_unique<ThreadTeam>(requested ? +requested : default_threads());
      problem = team_instance->problem();
    }
    found = team_instance.get();
    team_ready.store(found, std::memory_order_release);
  }
  // Logs after the lock was released, because the log sink may use the team.
  if (!problem.empty()) log_warning_once(problem);
  return *found;
}

}  // namespace

std::atomic<StopState>& stop_state() {
  static std::atomic<StopState> state{StopState::runs};
  return state;
}

void throw_if_stopped() {
  if (stop_state().load(std::memory_order_relaxed) != StopState::runs)
    throw Error(message("threads", "stopped"));
}

int thread_count() { return team().size(); }

void set_thread_count(int threads) {
  if (threads < 0 || threads > 1024)
    throw Error(message("threads", "expected 0 to 1024 threads, got ", threads));
  std::lock_guard lock(team_mutex);
  requested = threads;
  team_ready = nullptr;
  team_instance.reset();
}

void parallel_for(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(1, grain);
  Job job{&body, count, grain, ceil_div(count, grain), {}, {}, {}};
  if (job.pieces == 1 || inside_job)
    job.work();
  else
    team().submit(job);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace kaiseki
