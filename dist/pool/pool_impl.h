// SPDX-License-Identifier: MIT
// PoolImpl: the parts of the pool, and how they depend on each other. It has no rules of its own.
#pragma once

#include "dist/pool/acceptance.h"
#include "dist/pool/blob_garbage.h"
#include "dist/pool/scheduler.h"
#include "dist/pool/transaction.h"

namespace kaiseki::dist {

struct PoolImpl {
  PoolImpl(Store& store, BlobStore& blobs, PoolOptions options);

  double now() const { return options.clock(); }

  Store& store;
  BlobStore& blobs;
  const PoolOptions options;
  const Secret secret;

  Accounts accounts;
  Nodes nodes;
  Tickets tickets;
  Leases leases;
  Votes votes;
  Reports reports;
  BlobGarbage garbage;
  Transaction transaction;

  const Eligibility eligibility;
  const Agreement agreement;
  const Timing timing;
  Lifecycle lifecycle;
  Scheduler scheduler;
  Acceptance acceptance;

 private:
  PoolParts parts();
  void load();
  /// Ends the leases of the previous process at once. A node may never have got its ticket, so this
  /// does not wait for the deadlines.
  void end_old_leases();
};

}  // namespace kaiseki::dist
