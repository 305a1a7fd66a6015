// SPDX-License-Identifier: MIT
#include "matrix/tune/policy.h"

#include <atomic>
#include <mutex>

#include "matrix/backend/small_tasks.h"
#include "matrix/tune/measurement_mutex.h"

namespace kaiseki {
namespace {

struct State {
  std::mutex mutex;
  TunePolicy policy;
  std::recursive_mutex measuring;
};

State& state() {
  static auto* one = new State;
  return *one;
}

std::atomic<uint64_t> generation{1}, epoch{1};

}  // namespace

void set_tune_policy(const TunePolicy& policy) {
  std::lock_guard lock(state().mutex);
  if (policy.mode == TuneMode::exhaustive) ++epoch;
  state().policy = policy;
  ++generation;
  set_small_tasks_deterministic(policy.deterministic);
}

TunePolicy tune_policy() {
  std::lock_guard lock(state().mutex);
  return state().policy;
}

bool measures(const TunePolicy& policy, double operations, double least) {
  if (policy.mode == TuneMode::off || policy.mode == TuneMode::cached) return false;
  return policy.mode == TuneMode::exhaustive || operations >= least;
}

uint64_t tuning_choice_version() { return generation; }
uint64_t tuning_clear_count() { return epoch; }
void count_tuning_change() { ++generation; }

void forget_measurements() { ++epoch, ++generation; }

std::recursive_mutex& measurement_mutex() { return state().measuring; }

}  // namespace kaiseki
