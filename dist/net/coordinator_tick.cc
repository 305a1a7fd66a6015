// SPDX-License-Identifier: MIT
// What the coordinator does by the clock, and its end.
#include "dist/net/coordinator.h"
#include "dist/pool/store.h"
#include "matrix/error.h"

namespace kaiseki::dist {
namespace {

constexpr double kTickSeconds = 1, kCollectionSeconds = 600;

}  // namespace

void Coordinator::tick(double now) {
  if (now - last_tick_ < kTickSeconds) return;
  last_tick_ = now;
  try {
    pool_.tick();
    if (now - last_collection_ > kCollectionSeconds && std::exchange(last_collection_, now) > 0) {
      metrics_.add("blobs_collected", static_cast<uint64_t>(pool_.collect_blobs()));
      metrics_.add("nodes_forgotten", static_cast<uint64_t>(pool_.collect_nodes()));
      std::erase_if(budgets_, [&](const auto& one) {
        return one.second.use_count() == 1 && one.second->is_full(now);
      });
    }
  } catch (const StoreLost&) {
    throw;
  } catch (const std::exception& error) {  // of the file system, too
    metrics_.add("transactions_failed");
    log_.event("error", {{"what", error.what()}});
  }
  say_what_waits();
  work_ = true;  // in case nobody said so
  if (!hungry_.empty()) schedule();
}

void Coordinator::say_what_waits() {
  const auto waiting = pool_.waiting();
  for (const auto& [task, why] : waiting)
    if (said_to_wait_.insert(task).second)
      log_.event("task_waits", {{"task", std::to_string(task)}, {"why", why}});
  std::erase_if(said_to_wait_, [&](TaskId task) { return !waiting.contains(task); });
}

void Coordinator::drain() {
  draining_ = true;
  for (const auto& [serial, one] : sessions_) one->drain(options_.limits.drain_seconds);
}

bool Coordinator::settled() const {
  for (const auto& [serial, one] : sessions_)
    if (one->held() > 0) return false;
  return heard_.empty();
}

}  // namespace kaiseki::dist
