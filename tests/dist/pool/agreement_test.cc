// SPDX-License-Identifier: MIT
// Verification::adaptive without PoolOptions::verify: proven nodes compute alone, with samples, and
// the results of other nodes are compared.
#include <algorithm>
#include <vector>

#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

const TaskSpec kDefault = {.name = "t", .function = "f"};

struct PublicPool : TestPool {
  /// A node without the token, at an address of its own.
  NodeId join_public() { return pool->join(info(++sources)).id; }
  static NodeInfo info(int source) {
    return {.functions = {"f"}, .source = "192.0." + std::to_string(source) + ".1"};
  }
  /// The node computes a ticket of the task, if it gets one. Returns whether it did.
  bool step(const NodeId& node, bool lies = false) {
    if (!pool->node(node)->expelled.empty()) return false;
    const auto leases = pool->lease(node, 1);
    if (leases.empty()) return false;
    answer(node, leases[0], (lies ? "wrong " : "right ") + text(leases[0].input));
    return true;
  }
  /// Two public nodes agree until both are proven.
  std::vector<NodeId> proven(int count) {
    std::vector<NodeId> nodes;
    for (int i = 0; i < count; ++i) nodes.push_back(join_public());
    const TaskId practice = task(10 * count, kDefault);
    for (int rounds = 0; pool->progress(practice).open() > 0 && rounds < 1000; ++rounds)
      for (const NodeId& node : nodes) step(node);
    for (const NodeId& node : nodes) REQUIRE(pool->node(node)->consecutive_valid >= 10);
    pool->cancel(practice);
    ended.clear();
    return nodes;
  }
  int64_t wrong() const {
    return std::ranges::count_if(
        ended, [](const Finished& one) { return has(text(one.result), "wrong"); });
  }

  int sources = 0;
};

}  // namespace

TEST_CASE("agreement: without a setting, the first result of a public node does not count") {
  PublicPool at;
  const TaskId task = at.task(1, kDefault);
  CHECK(at.pool->task(task).spec.verification == Verification::adaptive);
  const NodeId a = at.join_public();
  CHECK(at.answer(a, at.lease(a)) == Outcome::pending);
  CHECK(at.pool->lease(a, 1).empty());
  CHECK(has(at.pool->wait_reason(task), "2 addresses"));
  const NodeId b = at.join_public();
  CHECK(at.pool->wait_reason(task).empty());
  CHECK(at.answer(b, at.lease(b)) == Outcome::accepted);
  REQUIRE(at.ended.size() == 1);
  CHECK(at.ended[0].checked);
}

TEST_CASE("agreement: a result of a node with the token counts at once") {
  PublicPool at;
  const TaskId task = at.task(3, kDefault);
  const NodeId liar = at.join_public(), honest = at.join_public(), own = at.join();
  const Lease lied = at.lease(liar);
  CHECK(at.answer(liar, lied, "wrong") == Outcome::pending);
  CHECK(at.pool->wait_reason(task).empty());
  CHECK(at.answer(own, at.lease(own), "right") == Outcome::accepted);
  CHECK(at.ended[0].ticket == lied.ticket);
  CHECK(!at.ended[0].checked);
  CHECK(at.pool->node(liar)->failed == 1);
  const Lease told = at.lease(honest);
  CHECK(at.answer(honest, told, "right") == Outcome::pending);
  CHECK(at.answer(own, at.lease(own), "right") == Outcome::accepted);
  CHECK(at.ended[1].ticket == told.ticket);
  CHECK(at.ended[1].checked);
  CHECK(at.pool->node(honest)->consecutive_valid == 1);
  CHECK(at.answer(own, at.lease(own)) == Outcome::accepted);  // alone
  CHECK(at.pool->progress(task) == Progress{.done = 3});
}

TEST_CASE("agreement: on a mismatch a third node decides") {
  PublicPool at;
  const TaskId task = at.task(1, kDefault);
  const NodeId a = at.join_public(), liar = at.join_public(), c = at.join_public();
  const Lease one = at.lease(a), two = at.lease(liar);
  CHECK(at.pool->lease(c, 1).empty());
  CHECK(at.answer(liar, two, "wrong") == Outcome::pending);
  CHECK(at.answer(a, one, "right") == Outcome::pending);
  CHECK(at.answer(c, at.lease(c), "right") == Outcome::accepted);
  CHECK(at.pool->progress(task) == Progress{.done = 1});
  CHECK(at.pool->node(liar)->failed == 1);
}

TEST_CASE("agreement: two unproven nodes do not decide while others are there") {
  for (const Verification verification : {Verification::adaptive, Verification::quorum}) {
    PublicPool at;
    at.task(1, {.name = "t", .function = "f", .verification = verification});
    std::vector<NodeId> nodes;
    for (int i = 0; i < 5; ++i) nodes.push_back(at.join_public());
    const Lease one = at.lease(nodes[0]), two = at.lease(nodes[1]);
    CHECK(at.answer(nodes[0], one, "wrong") == Outcome::pending);
    CHECK(at.answer(nodes[1], two, "wrong") == Outcome::pending);
    CHECK(at.answer(nodes[2], at.lease(nodes[2]), "right") == Outcome::pending);
    CHECK(at.answer(nodes[3], at.lease(nodes[3]), "right") == Outcome::pending);  // a tie
    CHECK(at.answer(nodes[4], at.lease(nodes[4]), "right") == Outcome::accepted);
    CHECK(at.wrong() == 0);
    CHECK(at.pool->node(nodes[0])->failed == 1);
  }
}

TEST_CASE("agreement: if the other nodes leave, those that agreed repeat the ticket") {
  PublicPool at;
  const TaskId task = at.task(2, kDefault);
  const NodeId a = at.join_public(), b = at.join_public(), third = at.join_public();
  for (const NodeId& node : {a, b}) {
    const Lease lease = at.lease(node);
    CHECK(at.answer(node, lease, "right") == Outcome::pending);
  }
  at.pool->disconnected(third);
  const Lease again = at.lease(b);
  CHECK(at.answer(b, again, "right") == Outcome::accepted);
  CHECK(at.pool->progress(task).done == 1);
  CHECK(at.pool->node(a)->accepted == 1);
}

TEST_CASE("agreement: a node that repeats its ticket with another result has failed") {
  PublicPool at;
  const TaskId task = at.task(1, {.name = "t", .function = "f", .max_attempts = 2});
  const NodeId a = at.join_public(), b = at.join_public(), third = at.join_public();
  const Lease one = at.lease(a), two = at.lease(b);
  CHECK(at.answer(a, one, "right") == Outcome::pending);
  CHECK(at.answer(b, two, "right") == Outcome::pending);
  at.pool->disconnected(third);
  CHECK(at.answer(a, at.lease(a), "another") == Outcome::duplicate);
  CHECK(at.pool->node(a)->failed == 1);
  at.now += 1;
  CHECK(at.answer(b, at.lease(b), "right") == Outcome::accepted);
  CHECK(at.pool->progress(task).done == 1);
}

TEST_CASE("agreement: a proven node computes alone, with occasional checks") {
  PublicPool at;
  const std::vector<NodeId> nodes = at.proven(2);
  const uint64_t before = at.count(PoolEvent::pending);
  const TaskId task = at.task(1000, kDefault);
  int computed = 0;
  while (at.pool->progress(task).open() > 0 && computed < 2000)
    for (const NodeId& node : nodes) computed += at.step(node);
  CHECK(at.pool->progress(task).done == 1000);
  const auto checked = std::ranges::count_if(at.ended, &Finished::checked);
  CHECK(checked == computed - 1000);
  CHECK(at.count(PoolEvent::pending) - before == checked);
  CHECK(checked > 10);  // at least 2 %
  CHECK(checked < 100);
}

TEST_CASE("agreement: unproven nodes are checked by proven ones, and become proven") {
  PublicPool at;
  const std::vector<NodeId> nodes = at.proven(3);
  at.task(1000, kDefault);
  const NodeId a = at.join_public(), b = at.join_public();
  const Lease one = at.lease(a), two = at.lease(b);
  CHECK(one.ticket != two.ticket);
  CHECK(at.answer(a, one, "right") == Outcome::pending);
  CHECK(at.pool->lease(b, 1).at(0).ticket != one.ticket);
  CHECK(at.lease(nodes[0]).ticket == one.ticket);  // the oldest first
  for (int i = 0; i < 100; ++i)
    for (const NodeId& node : {a, nodes[1]}) at.step(node);
  CHECK(at.pool->node(a)->consecutive_valid >= 10);
}

TEST_CASE("agreement: two liars among honest nodes are expelled, and their results do not count") {
  for (const int good : {0, 5}) {  // right results of the liars before the first wrong one
    INFO("after ", good, " good results");
    PublicPool at;
    const TaskId task = at.task(300, kDefault);
    const std::vector<NodeId> liars = {at.join_public(), at.join_public()};
    std::vector<NodeId> honest;
    for (int i = 0; i < 6; ++i) honest.push_back(at.join_public());
    for (int i = 0; i < 1000 && at.pool->progress(task).open() > 0; ++i) {
      for (const NodeId& liar : liars) {
        if (!at.pool->node(liar)->expelled.empty()) continue;
        at.step(liar, at.pool->node(liar)->accepted >= good);
      }
      for (const NodeId& node : honest) at.step(node);
      at.now += 1;
    }
    CHECK(at.pool->progress(task) == Progress{.done = 300});
    CHECK(at.wrong() == 0);
    for (const NodeId& liar : liars) CHECK(has(at.pool->node(liar)->expelled, "differ"));
    for (const NodeId& node : honest) CHECK(at.pool->node(node)->expelled.empty());
  }
}

TEST_CASE("agreement: proven nodes that lie alike are expelled, and no honest node is") {
  struct Case {
    size_t liars, before,
        after;  // nodes that prove themselves with the liars, and honest newcomers
  };
  for (const Case one : {Case{2, 0, 6}, Case{2, 6, 0}, Case{3, 6, 0}}) {
    INFO(one.liars, " liars, ", one.before, " proven nodes, ", one.after, " newcomers");
    PublicPool at;
    std::vector<NodeId> nodes = at.proven(static_cast<int>(one.liars + one.before));
    for (size_t i = 0; i < one.after; ++i) nodes.push_back(at.join_public());
    const TaskId task = at.task(3000, kDefault);
    for (int i = 0; i < 5000 && at.pool->progress(task).open() > 0; ++i) {
      for (size_t node = 0; node < nodes.size(); ++node) at.step(nodes[node], node < one.liars);
      at.now += 1;
    }
    CHECK(at.pool->progress(task) == Progress{.done = 3000});
    CHECK(at.wrong() <= static_cast<int64_t>(100 * one.liars));
    for (size_t node = 0; node < nodes.size(); ++node)
      CHECK(at.pool->node(nodes[node])->expelled.empty() == (node >= one.liars));
  }
}

TEST_CASE("agreement: a node that lies once it is proven is found by the checks") {
  PublicPool at;
  const std::vector<NodeId> nodes = at.proven(4);
  const TaskId task = at.task(3000, kDefault);
  for (int i = 0; i < 5000 && at.pool->progress(task).open() > 0; ++i) {
    for (size_t node = 0; node < nodes.size(); ++node) at.step(nodes[node], node == 0);
    at.now += 1;
  }
  CHECK(at.pool->progress(task) == Progress{.done = 3000});
  CHECK(!at.pool->node(nodes[0])->expelled.empty());
  CHECK(at.wrong() <= 50);
  for (const Finished& one : at.ended)
    if (has(text(one.result), "wrong")) CHECK(!one.checked);
}

TEST_CASE("agreement: the record of lost votes is kept over a restart") {
  PublicPool at;
  at.task(9, kDefault);
  const NodeIdentity liar = at.pool->join(PublicPool::info(100));
  for (int i = 0; i < 3; ++i) {
    CHECK(at.pool->node(liar.id)->expelled.empty());
    at.now += 100;
    const NodeId own = at.join();
    CHECK(at.answer(liar.id, at.lease(liar.id), "wrong") == Outcome::pending);
    CHECK(at.answer(own, at.lease(own), "right") == Outcome::accepted);
    if (i == 1) at.restart();
    if (i == 1) REQUIRE(at.pool->rejoin(liar, PublicPool::info(100)));
  }
  CHECK(!at.pool->node(liar.id)->expelled.empty());
}
