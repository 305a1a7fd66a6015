// SPDX-License-Identifier: MIT
#include "dist/pool/timing.h"

#include <algorithm>

namespace kaiseki::dist {
namespace {

constexpr double kLongestLease = 86400;  // seconds
constexpr double kLongestGuess = 3600;  // seconds: a longer lease is not extended without measuring
constexpr double kFarBehind = 4;        // times the expected seconds

}  // namespace

double Timing::typical(const PoolTicket& ticket, const PoolNode& node) const {
  const Pace& pace = ticket.task().pace();
  return pace.measured() ? pace.typical(ticket.row().work, node.speed()) : options_.least_deadline;
}

int Timing::at_once(const TaskSpec& task, const PoolNode& node) const {
  return options_.max_held.contains(task.function) ? 1 : node.info().threads;
}

bool Timing::is_late(const PoolTicket& ticket, const PoolNode& holder, const LeaseRow& lease,
                     double now) const {
  const Pace& pace = ticket.task().pace();
  const double seconds =
      pace.measured() ? pace.late(ticket.row().work, holder.speed()) : options_.least_deadline;
  return now - lease.issued > seconds * static_cast<double>(lease.round);
}

bool Timing::is_far_behind(const PoolTicket& ticket, const PoolNode& holder, const LeaseRow& lease,
                           double now) const {
  const Pace& pace = ticket.task().pace();
  if (!pace.measured()) return false;
  const double work = ticket.row().work;
  const double expected = std::max(pace.typical(work, holder.speed()), pace.median_seconds(work));
  return now - lease.issued > kFarBehind * expected * static_cast<double>(lease.round);
}

double Timing::node_seconds(double seconds, const PoolTicket& ticket, const PoolNode& node) const {
  const Pace& pace = ticket.task().pace();
  const double most =
      pace.measured() ? kFarBehind * pace.median_seconds(ticket.row().work) : kLongestLease;
  return std::min(seconds, most) / at_once(ticket.spec(), node);
}

void Timing::learn_beaten(const PoolTicket& ticket, PoolNode& holder, const LeaseRow& lease,
                          double now) const {
  const Pace& pace = ticket.task().pace();
  if (!pace.measured()) return;
  pace.add_least((now - lease.issued) / static_cast<double>(lease.round), ticket.row().work,
                 holder.speed());
}

double Timing::limit(const PoolTicket& ticket, const PoolNode& node, int64_t round) const {
  const Pace& pace = ticket.task().pace();
  const double seconds =
      pace.measured() ? pace.limit(ticket.row().work, node.speed()) : options_.first_deadline;
  return std::clamp(seconds * static_cast<double>(round), options_.least_deadline, kLongestLease);
}

std::optional<double> Timing::extended(const LeaseRow& lease, const PoolTicket& ticket,
                                       const PoolNode& node) const {
  const double before = lease.deadline - lease.issued;
  double seconds = before < kLongestGuess ? 2 * before : before;
  if (ticket.task().pace().measured()) seconds = limit(ticket, node, lease.round);
  if (lease.issued + seconds <= lease.deadline) return std::nullopt;
  return lease.issued + seconds;
}

bool Timing::may_hang(const PoolTicket& ticket, const std::vector<LeaseRow>& leases,
                      double now) const {
  const Pace& pace = ticket.task().pace();
  const double least =
      pace.measured() ? 2 * pace.median_seconds(ticket.row().work) : options_.first_deadline;
  const double last = leases.back().issued;
  return now - last > std::max(least, last - leases.front().issued);
}

}  // namespace kaiseki::dist
