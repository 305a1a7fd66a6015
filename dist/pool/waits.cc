// SPDX-License-Identifier: MIT
// Who could do a task's tickets, and which tasks wait for nodes that are not there.
#include "dist/pool/pool_state.h"
#include "matrix/error.h"

namespace kaiseki::dist {

const Crowd& Pool::Impl::crowd(const TaskEntry& task) const {
  Crowd& crowd = task.crowd;
  if (crowd.of == comings) return crowd;
  crowd = {comings, 0, 0};
  std::set<std::string_view> sources;
  for (const auto& [id, node] : nodes) {
    if (!node.connected || !node.row.expelled.empty() || !is_able(task.status.spec, node)) continue;
    ++crowd.nodes;
    if (node.info.source.empty())
      ++crowd.sources;
    else
      sources.insert(node.info.source);
  }
  crowd.sources += sources.size();
  return crowd;
}

std::string Pool::Impl::waits(const TaskEntry& task) const {
  const TaskSpec& spec = task.status.spec;
  if (spec.verification != Verification::quorum || task.status.state != TaskState::running ||
      task.progress.open() == 0)
    return {};
  const size_t sources = crowd(task).sources;
  if (sources >= static_cast<size_t>(spec.quorum)) return {};
  return message("task", "expected nodes of ", spec.quorum,
                 " sources that can do it, for its quorum, got ", sources,
                 "; nodes of one address are one source, unless they have the token");
}

std::string Pool::waits(TaskId id) const { return impl_->waits(impl_->task(id, "waits")); }

std::map<TaskId, std::string> Pool::waiting() const {
  std::map<TaskId, std::string> waiting;
  for (const auto& [id, task] : impl_->tasks)
    if (std::string why = impl_->waits(task); !why.empty()) waiting[id] = std::move(why);
  return waiting;
}

}  // namespace kaiseki::dist
