// SPDX-License-Identifier: MIT
// The cost of nodes that hold tickets, fail or leave, for a training in simulated time. Each step
// is a number of tickets, and begins when the step before has all results.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

constexpr double kTurn = 0.005;   // seconds of the simulation
constexpr double kTick = 0.05;    // seconds between two ticks of a server
constexpr double kTicket = 0.04;  // seconds that an honest node computes

enum class Kind {
  honest,
  slow,       // three times slower
  silent,     // never answers, and drops tickets that are cancelled
  deadline,   // answers just before the deadline
  alternate,  // answers every second ticket, and is silent about the others
  returns,    // gives each ticket back
  fails,      // reports an error for each ticket, and joins again
  rejoins,    // never answers, and joins again before each step
  idle,       // never asks for a ticket
  wrong,      // one wrong result, which the server replaces by its own; then it joins again
};

class Training {
 public:
  Training() {
    at.options.max_held = {{"f", 2}};
    at.options.soft_deadlines = {"f"};
    at.options.on_unwanted = [this](TicketId ticket) {
      for (Worker& worker : workers_)
        std::erase_if(worker.held, [&](const Held& held) { return held.lease.ticket == ticket; });
    };
    at.open();
    task_ = at.pool->create_task(
        at.pool->create_project("training"),
        {.name = "t", .function = "f", .verification = Verification::none, .max_attempts = 1000});
  }

  /// Nodes that join earlier are offered tickets earlier.
  void join(Kind kind, int count = 1) {
    for (int i = 0; i < count; ++i) {
      Worker worker{.kind = kind, .source = source(workers_.size())};
      worker.node = join(worker);
      workers_.push_back(worker);
    }
  }

  /// Seconds of one step.
  double step(int tickets) {
    for (Worker& worker : workers_)
      if (worker.kind == Kind::rejoins) join_anew(worker);
    const double begin = at.now;
    at.add(task_, tickets);
    offer();
    while (at.pool->progress(task_).open() > 0 || at.now < checked_) {
      REQUIRE(at.now - begin < 100);
      at.now += kTurn;
      for (Worker& worker : workers_) work(worker);
      if (at.now - ticked_ < kTick) continue;
      ticked_ = at.now;
      at.pool->tick();
      offer();
    }
    at.pool->drop(task_, INT64_MAX);
    return at.now - begin;
  }
  double steps(int count, int tickets) {
    double seconds = 0;
    for (int i = 0; i < count; ++i) seconds += step(tickets);
    return seconds / count;
  }

  NodeStatus status(size_t worker) const { return *at.pool->node(workers_[worker].node); }

  TestPool at;

 private:
  struct Held {
    Lease lease;
    double until = 0;  // 0: it has not begun
    bool answers = true;
  };
  struct Worker {
    Kind kind;
    std::string source;
    NodeId node = {};
    std::vector<Held> held = {};
    int leases = 0;
  };

  static std::string source(size_t i) { return "192.0." + std::to_string(i) + ".1"; }
  NodeId join(const Worker& worker) {
    return at.pool->join({.threads = 8, .functions = {"f"}, .source = worker.source}).id;
  }

  void join_anew(Worker& worker) {
    at.pool->disconnected(worker.node);
    worker.held.clear();
    worker.node = join(worker);
  }

  void offer() {
    for (Worker& worker : workers_) offer(worker);
  }
  void offer(Worker& worker) {
    if (worker.kind == Kind::idle) return;
    const int free = 2 - static_cast<int>(worker.held.size());
    for (const Lease& lease : at.pool->lease(worker.node, free)) {
      const bool silent = worker.kind == Kind::silent || worker.kind == Kind::rejoins ||
                          (worker.kind == Kind::alternate && worker.leases++ % 2 == 1);
      worker.held.push_back({.lease = lease, .answers = !silent});
    }
  }

  void work(Worker& worker) {
    while (!worker.held.empty()) {
      Held& held = worker.held.front();
      if (held.until == 0) {
        double seconds = kTicket * std::uniform_real_distribution<double>(0.8, 1.2)(at.random);
        if (worker.kind == Kind::slow) seconds *= 3;
        held.until = worker.kind == Kind::deadline ? held.lease.deadline - 0.1 : at.now + seconds;
      }
      if (!held.answers || at.now < held.until) return;
      const Held done = held;
      worker.held.erase(worker.held.begin());
      if (worker.kind == Kind::returns) {
        at.pool->give_back(worker.node, done.lease.token);
      } else if (worker.kind == Kind::wrong) {
        at.answer(worker.node, done.lease);
        at.pool->expel(worker.node, {"a wrong result"});
        checked_ = std::max(checked_, at.now) + kTicket;
        join_anew(worker);
      } else if (worker.kind == Kind::fails) {
        at.pool->give_back(worker.node, done.lease.token, "an error");
        join_anew(worker);
      } else {
        at.answer(worker.node, done.lease);
      }
      offer(worker);
    }
  }

  TaskId task_ = 0;
  double checked_ = 0;  // until when the server computes tickets to check results
  double ticked_ = 0;
  std::vector<Worker> workers_;
};

/// The duration of a step, relative to a step of the honest nodes alone. A fifth of the nodes are
/// of this kind. `idle` more nodes are idle.
double cost(Kind kind, int nodes, int tickets, int idle = 0, int steps = 300) {
  Training with, alone;
  with.join(Kind::idle, idle);
  with.join(kind, nodes / 5);
  with.join(Kind::honest, nodes - nodes / 5);
  alone.join(Kind::honest, nodes - nodes / 5);
  return with.steps(steps, tickets) / alone.steps(steps, tickets);
}

}  // namespace

TEST_CASE("delivery: a fifth of the nodes that hold tickets cost at most half as much again") {
  for (const Kind kind : {Kind::silent, Kind::deadline, Kind::alternate, Kind::returns, Kind::fails,
                          Kind::rejoins, Kind::wrong})
    for (const auto& sizes : {std::pair{10, 8}, {10, 10}, {10, 16}, {50, 60}}) {
      const int nodes = sizes.first, tickets = sizes.second;
      const double found = cost(kind, nodes, tickets);
      INFO("kind ", static_cast<int>(kind), ", ", nodes, " nodes, ", tickets, " tickets: ", found);
      CHECK(found <= 1.5);
    }
}

TEST_CASE("delivery: idle newcomers do not hide the nodes that deliver") {
  for (const Kind kind : {Kind::silent, Kind::deadline, Kind::rejoins}) {
    const double found = cost(kind, 10, 8, 1000, 100);
    INFO("kind ", static_cast<int>(kind), ": ", found);
    CHECK(found <= 1.5);
  }
}

TEST_CASE("delivery: a slow node that others overtake does not rest, and computes when needed") {
  Training at;
  at.join(Kind::slow);
  at.join(Kind::honest, 4);
  at.steps(100, 4);
  CHECK(at.status(0).resting == 0);
  CHECK(at.status(0).failed == 0);
  const int64_t before = at.status(0).accepted;
  at.step(200);
  const int64_t delivered = at.status(0).accepted - before;
  CHECK(delivered >= 10);  // its share of the speed is 1 / 13
  CHECK(delivered <= 20);
  CHECK(at.status(0).failed == 0);
}

TEST_CASE("delivery: a node that answers nothing rests once it is far behind") {
  Training at;
  at.join(Kind::silent);
  at.join(Kind::honest, 2);
  at.steps(5, 40);  // every node is needed
  CHECK(at.status(0).failed > 0);
  CHECK(at.status(1).failed == 0);
  CHECK(at.status(2).failed == 0);
}
