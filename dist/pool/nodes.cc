// SPDX-License-Identifier: MIT
// Nodes come, go and come back; leases whose time is over.
#include <algorithm>

#include "dist/pool/crypto.h"
#include "dist/pool/pool_state.h"
#include "dist/pool/text.h"
#include "matrix/error.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kMostName = 200;
constexpr int kMostThreads = 1024;
constexpr double kDay = 86400;
constexpr double kForgetIdle = kDay, kForget = 30 * kDay;  // seconds since a node was last seen

/// Derived, so that the store holds no secret of a node.
std::string key_of(std::string_view secret, const NodeId& node) {
  return hmac_sha256_hex(secret, "node " + node);
}

void set_info(NodeEntry& node, const NodeInfo& info) {
  node.info = info;
  node.info.threads = std::clamp(info.threads, 1, kMostThreads);
  node.info.name = node.row.name = clean_text(info.name, kMostName);
  node.info.device = node.row.device = clean_text(info.device, kMostName);
  node.speed = speed_of(info.gflops);
  node.connected = true;
}

/// Of a node that is not there.
NodeEntry entry_of(const NodeRow& row) {
  NodeEntry node;
  node.row = row;
  node.info.name = row.name, node.info.device = row.device;
  return node;
}

NodeStatus status_of(const NodeEntry& node) {
  return {node.row.id,
          node.info,
          node.connected,
          static_cast<int>(node.leases.size()),
          node.row.accepted,
          node.row.failed,
          node.row.consecutive_valid,
          node.row.last_seen,
          node.row.expelled};
}

}  // namespace

NodeIdentity Pool::join(const NodeInfo& info) {
  Impl& pool = *impl_;
  std::byte random[16];
  pool.options.random(random);
  const NodeId id = to_hex(random);
  PoolChange change(pool, false);
  NodeEntry& node = pool.nodes[id];
  ++pool.comings;
  node.row.id = id;
  node.row.last_seen = pool.now();
  set_info(node, info);
  node.asked = pool.now();
  pool.change(node);
  ++pool.counters["joined"];
  change.done();
  return {id, key_of(pool.key, id)};
}

bool Pool::rejoin(const NodeIdentity& identity, const NodeInfo& info) {
  Impl& pool = *impl_;
  if (!equal_in_constant_time(key_of(pool.key, identity.id), identity.key)) {
    ++pool.counters["refused_key"];
    return false;
  }
  // Its row came with a hello that a crash may have taken.
  if (!pool.nodes.contains(identity.id) && !pool.store.node(identity.id)) {
    ++pool.counters["refused_key"];
    return false;
  }
  PoolChange change(pool, false);
  NodeEntry& node = pool.node(identity.id, "rejoin");
  const bool welcome = node.row.expelled.empty();
  ++pool.comings;
  if (welcome) {
    pool.lose_leases(node);  // of a connection whose end nobody has noticed
    node.row.last_seen = pool.now();
    set_info(node, info);
    node.asked = pool.now();
    ++pool.counters["rejoined"];
  }
  pool.change(node);
  change.done();
  return welcome;
}

void Pool::Impl::lose_leases(NodeEntry& node) {
  const auto lost = static_cast<int64_t>(node.leases.size());
  node.row.failed += lost, node.row.failed_in_a_row += lost > 0;
  end_all_leases(node);  // anybody can come and go: that kills no ticket
}

void Pool::disconnected(const NodeId& id) {
  Impl& pool = *impl_;
  NodeEntry& node = pool.node(id, "disconnected");
  PoolChange change(pool, false);
  pool.lose_leases(node);
  node.connected = false;
  node.row.last_seen = pool.now();
  ++pool.comings;
  pool.change(node);
  change.done();
}

void Pool::expel(const NodeId& id, const std::string& reason) {
  Impl& pool = *impl_;
  if (reason.empty()) throw Error(message("expel", "expected a reason, got none"));
  NodeEntry& node = pool.node(id, "expel");
  PoolChange change(pool, true);
  pool.expel(node, reason, "author");
  change.done();
}

int64_t Pool::collect_nodes() {
  Impl& pool = *impl_;
  const double now = pool.now();
  PoolChange change(pool, false);
  for (auto& [id, node] : pool.nodes) {
    if (!node.connected || node.row.last_seen > now - kForgetIdle / 2) continue;
    node.row.last_seen = now;
    pool.store.put_node(node.row);
  }
  const int64_t count = pool.store.drop_nodes(now - kForgetIdle, now - kForget);
  change.done();
  return count;
}

void Pool::tick() {
  Impl& pool = *impl_;
  const double now = pool.now();
  if (!pool.deadlines.empty() && std::get<0>(*pool.deadlines.begin()) <= now) {
    PoolChange change(pool, false);
    while (!pool.deadlines.empty() && std::get<0>(*pool.deadlines.begin()) <= now) {
      const auto [deadline, id, epoch] = *pool.deadlines.begin();
      OpenTicket& ticket = pool.tickets.at(id);
      const auto found = std::ranges::find(ticket.leases, epoch, &LeaseRow::epoch);
      if (pool.extend(*found, ticket)) continue;
      const LeaseRow lease = pool.end_lease(ticket, NodeId(found->node), epoch);
      ++pool.counters["expired"];
      pool.fail(ticket, lease.node,
                message("tick", "expected a result within ", lease.deadline - lease.issued,
                        " s, got none"),
                true);
    }
    change.done();
  }
  for (const auto& [id, task] : pool.tasks)
    pool.work |= !task.waiting.empty() && task.waiting.begin()->first <= now;
  if (pool.work) PoolChange(pool, false).done();
  if (!pool.unwanted.empty() && pool.next_discard <= now) pool.discard_unwanted();
}

std::optional<NodeStatus> Pool::node(const NodeId& id) const {
  if (auto found = impl_->nodes.find(id); found != impl_->nodes.end())
    return status_of(found->second);
  const auto row = impl_->store.node(id);
  if (!row) return std::nullopt;
  return status_of(entry_of(*row));
}

std::vector<NodeStatus> Pool::away(double seconds, int limit) const {
  std::vector<NodeStatus> found;
  const int known = static_cast<int>(impl_->nodes.size());
  for (const NodeRow& row : impl_->store.nodes(impl_->now() - seconds, limit + known))
    if (static_cast<int>(found.size()) < limit && !impl_->nodes.contains(row.id))
      found.push_back(status_of(entry_of(row)));
  return found;
}

uint64_t Pool::comings() const { return impl_->comings; }

std::vector<NodeStatus> Pool::nodes() const {
  std::vector<NodeStatus> all;
  for (const auto& [id, node] : impl_->nodes) all.push_back(status_of(node));
  return all;
}

}  // namespace kaiseki::dist
