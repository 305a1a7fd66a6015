// SPDX-License-Identifier: MIT
#include "dist/pool/pool_impl.h"

#include <chrono>

#include "base/error.h"
#include "dist/pool/crypto.h"

namespace kaiseki::dist {
namespace {

double system_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

PoolOptions with_defaults(PoolOptions options) {
  if (!options.clock) options.clock = system_seconds;
  if (!options.random) options.random = random_bytes;
  return options;
}

}  // namespace

PoolImpl::PoolImpl(Store& the_store, BlobStore& the_blobs, PoolOptions the_options)
    : store(the_store),
      blobs(the_blobs),
      options(with_defaults(std::move(the_options))),
      secret(store, options.random),
      accounts(store),
      nodes(store),
      tickets(store),
      leases(store),
      votes(store),
      reports(options),
      garbage(store, blobs),
      transaction(store, reports,
                  {.load = [this] { load(); },
                   .write = [this] { nodes.write(); },
                   .committed =
                       [this] {
                         nodes.committed([this](const NodeId& id) { return leases.holds_any(id); });
                       }}),
      eligibility(options, nodes, leases, votes),
      agreement(nodes, leases, votes, eligibility),
      timing(options),
      lifecycle(parts(), timing),
      scheduler(parts(), lifecycle, timing),
      acceptance(parts(), blobs, secret, lifecycle, timing) {
  transaction.load();
  end_old_leases();
}

PoolParts PoolImpl::parts() {
  return {options, store, tickets, leases, votes, nodes, accounts, reports, eligibility, agreement};
}

void PoolImpl::load() {
  nodes.load();
  accounts.load(now());
  tickets.load();
  leases.load();
  votes.clear();
  for (const NodeId& holder : leases.holders()) nodes.find_or_add(holder);
  for (const auto& [id, ticket] : tickets.all())
    if (eligibility.compares(ticket.spec())) votes.load(id);
  for (const auto& [id, ticket] : tickets.all()) lifecycle.place(tickets.at(id));
}

void PoolImpl::end_old_leases() {
  if (leases.empty()) return;
  // The receivers of the reports may not exist yet. The first change delivers the reports.
  reports.hold();
  try {
    Change change(transaction, false);
    for (const NodeId& holder : leases.holders()) lifecycle.end_leases(holder);
    change.commit();
  } catch (const StoreLost&) {
    throw;
  } catch (const Error&) {  // On a full disk the leases end by their deadlines.
  }
  reports.release();
}

}  // namespace kaiseki::dist
