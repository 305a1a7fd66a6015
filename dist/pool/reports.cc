// SPDX-License-Identifier: MIT
#include "dist/pool/reports.h"

#include <utility>

namespace kaiseki::dist {

void Reports::finished(Finished finished) { finished_.push_back(std::move(finished)); }
void Reports::unwanted(TicketId ticket) { unwanted_.push_back(ticket); }
void Reports::expelled(Expulsion expulsion) { expelled_.push_back(std::move(expulsion)); }
void Reports::task_changed(TaskId task) { changed_tasks_.push_back(task); }

void Reports::commit() {
  if (options_.on_finished)
    for (Finished& finished : finished_)
      queue_.push_back([this, f = std::move(finished)] { options_.on_finished(f); });
  if (options_.on_unwanted)
    for (TicketId ticket : unwanted_)
      queue_.push_back([this, ticket] { options_.on_unwanted(ticket); });
  if (options_.on_expelled)
    for (const Expulsion& one : expelled_)
      queue_.push_back([this, one] { options_.on_expelled(one); });
  if (options_.on_task)
    for (TaskId task : changed_tasks_) queue_.push_back([this, task] { options_.on_task(task); });
  if (work_ && options_.on_work) queue_.push_back([this] { options_.on_work(); });
  clear();
}

void Reports::discard() noexcept { clear(); }

void Reports::clear() noexcept {
  finished_.clear(), unwanted_.clear(), expelled_.clear(), changed_tasks_.clear();
  work_ = false;
}

void Reports::deliver() {
  if (delivering_) return;
  delivering_ = true;
  struct Reset {
    bool& flag;
    ~Reset() { flag = false; }
  } reset{delivering_};
  while (!queue_.empty()) {
    auto next = std::move(queue_.front());
    queue_.pop_front();
    next();
  }
}

}  // namespace kaiseki::dist
