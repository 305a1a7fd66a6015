// SPDX-License-Identifier: MIT
#include "dist/pool/eligibility.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/text.h"

namespace kaiseki::dist {

namespace {

bool has_access(const TaskSpec& spec, const NodeInfo& info) {
  return spec.public_data || info.trusted;
}

bool has_code(const TaskSpec& spec, const NodeInfo& info) {
  return (!spec.module.empty() && info.runs_modules) ||
         (!spec.function.empty() &&
          std::ranges::find(info.functions, spec.function) != info.functions.end());
}

/// Why none of the connected nodes may compute the task. Empty if no node is connected.
std::string what_is_missing(const TaskSpec& spec, const EligibleNodes& all) {
  if (all.too_small > 0)
    return text_from("expected a node with ", format_bytes(4 * spec.memory_bytes),
                     " of memory, four times memory_bytes, got ", all.too_small,
                     " nodes with less");
  if (all.without_code > 0 && spec.function.empty())
    return text_from("expected a node that runs modules, such as the page /volunteer/, got ",
                     all.without_code, " nodes that do not");
  if (all.without_code > 0)
    return text_from("expected a node with the function ", spec.function, ", got ",
                     all.without_code, " nodes without it");
  if (all.untrusted > 0)
    return text_from("expected a node with the token, as the data are private, got ", all.untrusted,
                     " nodes without it");
  return {};
}

}  // namespace

bool Eligibility::is_able(const TaskSpec& spec, const PoolNode& node) {
  return spec.memory_bytes <= ticket_memory(node.info()) && has_access(spec, node.info()) &&
         has_code(spec, node.info());
}

bool Eligibility::compares(const TaskSpec& spec) const {
  return spec.verification == Verification::quorum ||
         (spec.verification == Verification::adaptive && !options_.verify);
}

bool Eligibility::suits(const PoolTask& task, const PoolNode& node) {
  return task.is(TaskState::running) && task.progress().open() > 0 && is_able(task.spec(), node);
}

bool Eligibility::takes_part(const PoolTicket& ticket, const PoolNode& node) const {
  if (leases_.find(ticket.id(), node.id()) ||
      votes_.has_voted(ticket.id(), node.id(), node.source()))
    return true;
  if (!compares(ticket.spec()) || node.source().empty()) return false;
  return std::ranges::any_of(leases_.of_ticket(ticket.id()), [&](const LeaseRow& lease) {
    const PoolNode* holder = nodes_.find(lease.node);
    return holder && holder->source() == node.source();
  });
}

bool Eligibility::may_vote(const PoolTicket& ticket, const PoolNode& node) const {
  return node.connected() && !node.expelled() && !node.on_probation() &&
         !ticket.has_failed(node.id(), node.source()) && !takes_part(ticket, node) &&
         is_able(ticket.spec(), node);
}

bool Eligibility::could_take(const PoolTicket& ticket, const PoolNode& node, double now) const {
  return (node.has_asked(now) || leases_.holds_any(node.id())) && !nodes_.rests(node, now) &&
         may_vote(ticket, node);
}

bool Eligibility::others_could(const PoolTicket& ticket, const PoolNode& besides,
                               double now) const {
  const bool counts = besides.connected() && !besides.expelled() && is_able(ticket.spec(), besides);
  if (nodes_for(ticket.task()).nodes <= (counts ? 1 : 0)) return false;
  return std::ranges::any_of(nodes_.all(), [&](const auto& entry) {
    return &entry.second != &besides && could_take(ticket, entry.second, now);
  });
}

EligibleNodes Eligibility::count(const PoolTask& task) const {
  EligibleNodes eligible;
  std::set<std::string_view> sources;
  for (const auto& [id, node] : nodes_.all()) {
    if (!node.connected() || node.expelled()) continue;
    if (!is_able(task.spec(), node)) {
      ++(!has_access(task.spec(), node.info()) ? eligible.untrusted
         : !has_code(task.spec(), node.info()) ? eligible.without_code
                                               : eligible.too_small);
      continue;
    }
    ++eligible.nodes;
    eligible.established += !node.is_newcomer();
    if (node.is_proven()) eligible.proven.push_back(id);
    if (node.source().empty())
      ++eligible.sources;
    else
      sources.insert(node.source());
  }
  eligible.sources += sources.size();
  return eligible;
}

const EligibleNodes& Eligibility::nodes_for(const PoolTask& task) const {
  if (version_ != nodes_.membership_version()) counts_.clear();
  version_ = nodes_.membership_version();
  const auto found = counts_.find(task.id());
  return found != counts_.end() ? found->second
                                : counts_.emplace(task.id(), count(task)).first->second;
}

std::string Eligibility::wait_reason(const PoolTask& task) const {
  const TaskSpec& spec = task.spec();
  if (!task.is(TaskState::running) || task.progress().open() == 0) return {};
  const EligibleNodes& all = nodes_for(task);
  const size_t sources = all.sources;
  const std::string missing = all.nodes > 0 ? std::string() : what_is_missing(spec, all);
  if (!missing.empty()) return missing;
  if (!compares(spec) || sources >= static_cast<size_t>(spec.quorum)) return {};
  if (spec.verification == Verification::adaptive && (all.nodes == 0 || !all.proven.empty()))
    return {};
  return text_from("expected nodes of ", spec.quorum,
                   " addresses, which must agree on each result, got ", sources,
                   "; open /volunteer/ on a device with another address, or join with the token");
}

}  // namespace kaiseki::dist
