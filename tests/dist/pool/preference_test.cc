// SPDX-License-Identifier: MIT
// Tickets that prefer a node are kept for it for a short time.
#include <algorithm>

#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("lease: a ticket goes to the node that it prefers, else to another") {
  TestPool at;
  const TaskId task = at.task(1);
  const NodeId a = at.join(), b = at.join(), c = at.join();
  at.lease(c);
  std::vector<TicketSpec> tickets(3);
  tickets[0].prefer = b, tickets[1].prefer = a, tickets[2].prefer = c;
  const TicketId first = at.pool->add_tickets(task, tickets);
  CHECK(at.lease(a).ticket == first + 1);
  const NodeId d = at.join(), e = at.join();
  CHECK(at.lease(d).ticket == first + 2);  // c is busy
  CHECK(at.pool->lease(e, 1).empty());     // b is idle, and will ask
  CHECK(at.pool->preferred_idle_nodes() == std::vector{b});
  CHECK(at.lease(b).ticket == first);
  at.pool->disconnected(b);
  CHECK(at.lease(e).ticket == first);
}

TEST_CASE("lease: no ticket is kept for nodes that do not ask for tickets") {
  TestPool at;
  const TaskId task = at.task(1);
  const NodeId silent = at.join(), working = at.join(2), other = at.join();
  at.lease(other);
  at.now += 60;  // the page of `silent` was paused
  TicketSpec ticket;
  ticket.prefer = silent;
  at.pool->add_tickets(task, std::vector<TicketSpec>{ticket, TicketSpec{}});
  CHECK(at.pool->lease(working, 2).size() == 2);
}

TEST_CASE("lease: abandoned and cancelled tickets prefer no node") {
  TestPool at;
  const TaskId task = at.task(1);
  const NodeId a = at.join(), b = at.join();
  const auto add = [&](const NodeId& node) {
    TicketSpec ticket;
    ticket.prefer = node;
    return at.pool->add_tickets(task, std::vector{ticket});
  };
  const TicketId first = add(a);
  add(b);
  CHECK(at.pool->preferred_idle_nodes() == std::vector{std::min(a, b), std::max(a, b)});
  at.pool->abandon(task, first);
  CHECK(at.pool->preferred_idle_nodes() == std::vector{b});
  at.pool->cancel(task);
  CHECK(at.pool->preferred_idle_nodes().empty());
}

TEST_CASE("lease: a ticket kept for a node that does not ask goes to others") {
  TestPool at;
  const TaskId task = at.task(1);
  const NodeId a = at.join(), b = at.join(), c = at.join();
  at.lease(c);
  TicketSpec ticket;
  ticket.prefer = a;
  at.pool->add_tickets(task, std::vector{ticket});
  CHECK(at.pool->lease(b, 1).empty());
  at.now += 1;
  at.lease(b);
}

TEST_CASE("lease: a ticket is kept for its own time, whatever is added after it") {
  TestPool at;
  const TaskId task = at.task(1);
  const NodeId a = at.join(), b = at.join(), c = at.join();
  at.lease(c);
  TicketSpec ticket;
  ticket.prefer = a;
  const TicketId first = at.pool->add_tickets(task, std::vector{ticket});
  at.now += 0.4;
  at.pool->add_tickets(task, std::vector{ticket});
  CHECK(at.pool->lease(b, 1).empty());
  at.now += 0.2;
  CHECK(at.lease(b).ticket == first);
  CHECK(at.pool->lease(at.join(), 1).empty());
}
