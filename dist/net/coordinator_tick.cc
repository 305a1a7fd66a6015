// SPDX-License-Identifier: MIT
// The coordinator's periodic work, and its end.
#include "base/error.h"
#include "dist/net/coordinator.h"
#include "dist/pool/store.h"

namespace kaiseki::dist {
namespace {

constexpr double kTickSeconds = 1, kCollectionSeconds = 600;

}  // namespace

void Coordinator::tick(double now) {
  if (!last_tick_ || now - *last_tick_ >= kTickSeconds) {
    if (last_tick_) measure_traffic(now - *last_tick_);
    last_tick_ = now;
    note_history(now);
    tick_pool(now);
    has_new_work_ = true;  // in case a notification was missed, and as rests end
  }
  if (pool_.may_have_late_tickets()) has_new_work_ = true;
  if (has_new_work_ && !with_free_slots_.empty()) schedule();
}

void Coordinator::tick_pool(double now) {
  try {
    for (const ProjectStatus& project : pool_.tick()) {
      api_.forget(project.id);
      log_.event("project_lapsed",
                 {{"project", std::to_string(project.id)}, {"name", project.name}});
    }
    if (!last_collection_) last_collection_ = now;
    if (now - *last_collection_ > kCollectionSeconds) {
      last_collection_ = now;
      metrics_.add(Counter::blobs_collected, static_cast<uint64_t>(pool_.collect_blobs()));
      metrics_.add(Counter::nodes_forgotten, static_cast<uint64_t>(pool_.collect_nodes()));
      std::erase_if(records_, [&](const auto& one) {
        return one.second.budget.use_count() == 1 && one.second.budget->is_full(now);
      });
      quarantine_.forget(now);
    }
  } catch (const StoreLost&) {
    throw;
  } catch (const std::exception& error) {  // such as errors of the file system
    metrics_.add(Counter::transactions_failed);
    log_.event("error", {{"what", error.what()}});
  }
  log_waiting_tasks();
}

void Coordinator::measure_traffic(double seconds) {
  size_t working = 0;
  for (const auto& [serial, one] : sessions_) working += one->take_worked();
  const uint64_t bytes = metrics_.count(Counter::bytes_sent) +
                         metrics_.count(Counter::bytes_received) +
                         metrics_.count(Counter::blob_bytes_sent);
  traffic_.tick(seconds, bytes, working);
}

void Coordinator::log_waiting_tasks() {
  const auto waiting = pool_.waiting();
  for (const auto& [task, why] : waiting)
    if (logged_waiting_.insert(task).second)
      log_.event("task_waits", {{"task", std::to_string(task)}, {"why", why}});
  std::erase_if(logged_waiting_, [&](TaskId task) { return !waiting.contains(task); });
}

void Coordinator::drain() {
  draining_ = true;
  for (const auto& [serial, one] : sessions_) one->drain(options_.limits.drain_seconds);
}

bool Coordinator::settled() const {
  for (const auto& [serial, one] : sessions_)
    if (one->held() > 0) return false;
  return messages_.empty();
}

}  // namespace kaiseki::dist
