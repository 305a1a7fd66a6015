// SPDX-License-Identifier: MIT
// Reports: collects the events of a transaction and calls the callbacks of PoolOptions after the
// commit.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "dist/pool/options.h"

namespace kaiseki::dist {

class Reports {
 public:
  /// `options` must outlive the reports.
  explicit Reports(const PoolOptions& options) : options_(options) {}

  // Events of the transaction that is open.
  void finished(Finished finished);
  void unwanted(TicketId ticket);
  void expelled(Expulsion expulsion);
  void task_changed(TaskId task);
  void work_available() { work_ = true; }

  /// Queues the events for deliver().
  void commit();
  void discard() noexcept;
  /// Calls the callbacks for the committed events. A callback may call the pool; the events of that
  /// call are delivered after the callback has returned.
  void deliver();
  /// Between the two calls deliver() does nothing. The events stay queued.
  void hold() { delivering_ = true; }
  void release() { delivering_ = false; }

 private:
  void clear() noexcept;

  const PoolOptions& options_;
  std::vector<Finished> finished_;
  std::vector<TicketId> unwanted_;
  std::vector<Expulsion> expelled_;
  std::vector<TaskId> changed_tasks_;
  bool work_ = false, delivering_ = false;
  std::deque<std::function<void()>> queue_;
};

}  // namespace kaiseki::dist
