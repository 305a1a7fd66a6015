// SPDX-License-Identifier: MIT
// PoolChannel with channel and pool on one thread. Posted calls run when the test decides.
#include "dist/net/pool_channel.h"

#include <deque>

#include "base/sha256.h"
#include "tests/dist/pool/support.h"

namespace kaiseki::test {
namespace {

struct Fixture : TestPool {
  explicit Fixture(bool public_data = true) {
    options.on_finished = [this](const Finished& one) { channel.finished(one); };
    options.on_task = [this](TaskId) { channel.changed(); };
    add_author_functions(options);
    open();
    channel.start(local_author(*pool, blobs, {.public_data = public_data}));
  }

  /// Runs the calls of the pool's thread.
  void work() {
    while (!posted.empty()) {
      const auto call = std::move(posted.front());
      posted.pop_front();
      call();
    }
  }
  NodeId join(std::vector<std::string> functions = {kTrainingFunction}) {
    const NodeId id = pool->join({.name = "n",
                                  .device = "cpu",
                                  .gflops = 3,
                                  .link = link,
                                  .functions = functions,
                                  .trusted = trusted})
                          .id;
    channel.changed();
    work();
    return id;
  }
  std::optional<TicketResult> receive() {
    auto result = channel.receive(0);
    work();
    return result;
  }
  void submit(uint64_t id, std::string_view ticket, uint64_t max_result = 100) {
    channel.submit(id, {bytes(ticket), max_result});
    work();
  }
  void close(uint64_t id) {
    channel.close(id);
    work();
  }

  std::optional<LinkSpeed> link;  // of nodes that join
  bool trusted = false;
  std::deque<std::function<void()>> posted;
  PoolChannel channel{[this](std::function<void()> call) { posted.push_back(std::move(call)); }};
};

TEST_CASE("channel: without nodes it does not wait and stores nothing") {
  Fixture at;
  at.channel.put_blob(BlobKind::weights, sha256(bytes("weights")),
                      std::make_shared<ByteVector>(bytes("weights")));
  at.submit(1, "one");
  CHECK(at.channel.nodes().empty());
  CHECK_FALSE(at.channel.receive(1000));
  at.join({"another function"});
  CHECK(at.channel.nodes().empty());
  CHECK_FALSE(at.channel.receive(1000));
  CHECK_FALSE(at.blobs.contains(sha256(bytes("weights"))));
  CHECK(at.pool->tasks().empty());
}

TEST_CASE("channel: a node that joins later gets the open tickets, and its result arrives") {
  Fixture at;
  const std::string hash = sha256(bytes("weights"));
  at.channel.put_blob(BlobKind::weights, hash, std::make_shared<ByteVector>(bytes("weights")));
  at.submit(1, "one", 77);
  const NodeId node = at.join();
  REQUIRE(at.channel.nodes().size() == 1);
  CHECK(at.channel.nodes()[0].name == node);
  CHECK(at.channel.nodes()[0].gflops == 3);
  const Lease lease = at.lease(node);
  CHECK(text(lease.input) == "one");
  CHECK(lease.max_result_bytes == 77);
  CHECK(text(at.blobs.read(hash)) == "weights");
  CHECK_FALSE(at.receive());
  CHECK(at.answer(node, lease) == Outcome::accepted);
  const auto result = at.receive();
  REQUIRE(result);
  CHECK(result->ticket == 1);
  CHECK(result->node == node);
  CHECK(text(result->bytes) == "result");
  at.close(1);
  CHECK_FALSE(at.receive());
  at.pool->collect_blobs(0);
  CHECK(at.blobs.contains(hash));
  at.channel.drop_blob(hash);
  at.work();
  at.pool->collect_blobs(0);
  CHECK_FALSE(at.blobs.contains(hash));
}

TEST_CASE("channel: private data is for trusted nodes only") {
  Fixture at(false);
  at.submit(1, "one");
  const NodeId page = at.join();
  CHECK(at.channel.nodes().empty());
  at.trusted = true;
  const NodeId own = at.join();
  REQUIRE(at.channel.nodes().size() == 1);
  CHECK(at.channel.nodes()[0].name == own);
  CHECK(at.pool->lease(page, 1).empty());
  CHECK(text(at.lease(own).input) == "one");
}

TEST_CASE("channel: a node's rate is its measurement, or a default") {
  Fixture at;
  at.join();
  at.link = LinkSpeed{8, 2, 0.1};
  at.join();
  auto nodes = at.channel.nodes();
  REQUIRE(nodes.size() == 2);
  if (nodes[0].up_mbit_s > nodes.back().up_mbit_s) std::swap(nodes[0], nodes.back());
  CHECK(nodes[0].down_mbit_s == 8);
  CHECK(nodes[0].up_mbit_s == 2);
  CHECK(nodes[0].round_trip_s == 0.1);
  CHECK(nodes[1].down_mbit_s == NodeRate().down_mbit_s);
  CHECK(nodes[1].round_trip_s == NodeRate().round_trip_s);
}

TEST_CASE("channel: a node that rests after a failure is not planned with") {
  Fixture at;
  const NodeId failing = at.join(), other = at.join();
  at.submit(1, "one");
  at.pool->give_back(failing, at.lease(failing).token, "no memory");
  at.channel.changed();
  at.work();
  REQUIRE(at.channel.nodes().size() == 1);
  CHECK(at.channel.nodes()[0].name == other);
  at.now += 2;
  at.channel.changed();
  at.work();
  CHECK(at.channel.nodes().size() == 2);
}

TEST_CASE("channel: the pool gets a ticket's work and preferred node") {
  Fixture at;
  const NodeId a = at.join(), b = at.join();
  const ByteVector one = bytes("one"), two = bytes("two");
  at.channel.submit(1, {one, 100, 3, b});
  at.channel.submit(2, {two, 100, 1, a});
  at.work();
  CHECK(text(at.lease(a).input) == "two");
  const Lease lease = at.lease(b);
  CHECK(text(lease.input) == "one");
  CHECK(lease.work == 3);
}

TEST_CASE("channel: a ticket that remains open is issued again") {
  Fixture at;
  const NodeId node = at.join(), other = at.join();
  at.submit(1, "one");
  CHECK(at.answer(node, at.lease(node), "wrong") == Outcome::accepted);
  CHECK(text(at.receive()->bytes) == "wrong");
  at.channel.expel(node, {"its result is wrong"});
  CHECK_FALSE(at.receive());
  REQUIRE(at.channel.nodes().size() == 1);
  CHECK(at.channel.nodes()[0].name == other);
  CHECK(at.pool->lease(node, 1).empty());
  CHECK(at.answer(other, at.lease(other), "right") == Outcome::accepted);
  CHECK(text(at.receive()->bytes) == "right");
  at.close(1);
  CHECK_FALSE(at.receive());
  CHECK(at.pool->lease(other, 1).empty());
}

TEST_CASE("channel: tickets that were closed early are deleted after the step") {
  Fixture at;
  const NodeId node = at.join();
  at.submit(1, "one");
  at.submit(2, "two");
  const Lease first = at.lease(node);
  at.close(1);  // the server computed it
  at.close(2);
  CHECK(at.pool->progress(first.task).total() == 0);
  CHECK(at.answer(node, first) == Outcome::stale);
  CHECK_FALSE(at.receive());
  at.submit(3, "three");
  const Lease next = at.lease(node);
  CHECK(text(next.input) == "three");
  CHECK(at.answer(node, next) == Outcome::accepted);
  CHECK(at.receive()->ticket == 3);
  at.close(3);
  CHECK(next.task == first.task);
  CHECK(at.pool->tasks().size() == 1);
  CHECK(at.pool->progress(next.task).total() == 0);  // done tickets are deleted
}

TEST_CASE("channel: a paused task waits through all steps until it is resumed") {
  Fixture at;
  const NodeId node = at.join();
  at.submit(1, "one");
  const Lease first = at.lease(node);
  CHECK(!at.channel.is_paused());
  at.pool->pause(first.task);
  at.work();
  CHECK(at.channel.is_paused());
  CHECK_FALSE(at.channel.receive(1000));               // returns soon
  CHECK(at.answer(node, first) == Outcome::accepted);  // a ticket at work is not lost
  CHECK(at.receive()->ticket == 1);
  at.close(1);
  at.submit(2, "two");
  at.submit(3, "three");
  at.close(3);
  CHECK(at.pool->lease(node, 1).empty());
  at.close(2);  // the step was abandoned
  at.submit(4, "four");
  CHECK(at.pool->lease(node, 1).empty());
  CHECK(at.channel.is_paused());
  at.pool->disconnected(node);
  at.channel.changed();
  at.work();
  CHECK(at.channel.is_paused());
  const NodeId other = at.join();
  CHECK(at.pool->lease(other, 1).empty());
  at.pool->resume(first.task);
  at.work();
  CHECK(!at.channel.is_paused());
  CHECK(at.answer(other, at.lease(other)) == Outcome::accepted);
  CHECK(at.receive()->ticket == 4);
}

TEST_CASE("channel: canceling the task ends training with an error") {
  Fixture at;
  const NodeId node = at.join();
  at.submit(1, "one");
  const TaskId task = at.lease(node).task;
  at.pool->cancel(task);
  at.work();
  const std::string error = error_of([&] { at.channel.receive(1000); });
  CHECK(has(error, "cancelled at the coordinator"));
  CHECK(!has(error, "--resume"));  // the command adds that
  CHECK(at.pool->tasks().size() == 1);
}

TEST_CASE("channel: a ticket that fails twice is reported as dead") {
  Fixture at;
  const NodeId node = at.join();
  at.submit(1, "one");
  at.submit(2, "two");
  const Lease first = at.lease(node);
  CHECK(at.answer(node, first) == Outcome::accepted);
  CHECK(at.receive()->ticket == 1);
  at.close(1);
  for (int attempt = 0; attempt < 2; ++attempt) {
    CHECK_FALSE(at.receive());
    CHECK(at.pool->give_back(node, at.lease(node).token, "no memory").outcome == Outcome::accepted);
    at.now += 2;
    at.pool->tick();
  }
  const auto dead = at.receive();
  REQUIRE(dead);
  CHECK(dead->ticket == 2);
  CHECK(dead->dead);
  CHECK(dead->bytes.empty());
  at.close(2);
  CHECK_FALSE(at.receive());
  CHECK(at.pool->progress(first.task).total() == 0);
}

TEST_CASE("channel: late tickets of slow nodes count, and other nodes may get them meanwhile") {
  Fixture at;
  at.trusted = true;  // failures of trusted nodes always count
  const NodeId slow = at.join(), slower = at.join();
  const auto wait = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      at.now += 1;
      at.pool->tick();
      for (const NodeId& node : {slow, slower}) at.pool->lease(node, 2);
    }
  };
  uint64_t id = 0;
  for (const bool measured : {false, true}) {
    CAPTURE(measured);  // whether the node's speed is known: its tickets took a second
    at.submit(++id, "one");
    const Lease lease = at.lease(slow);
    wait(150);
    CHECK_FALSE(at.receive());
    CHECK(at.answer(slow, lease) == Outcome::accepted);
    const auto result = at.receive();
    REQUIRE(result);
    CHECK(result->ticket == id);
    CHECK_FALSE(result->dead);
    at.close(id);
    at.now += at.pool->node(slow)->resting;  // it rests because it missed deadlines
    for (int i = 0; i < 300; ++i) {
      at.submit(++id, "quick");
      const Lease quick = at.lease(slow);
      at.now += 1;
      CHECK(at.answer(slow, quick) == Outcome::accepted);
      CHECK(at.receive()->ticket == id);
      at.close(id);
    }
  }
  at.now += 3 + at.pool->node(slower)->resting;  // the node `slow` does not ask for tickets
  at.submit(++id, "of a node that says nothing");
  const Lease silent = at.lease(slower);
  CHECK(at.pool->lease(slow, 1).empty());
  at.now += 20;
  CHECK(at.lease(slow).ticket == silent.ticket);
}

TEST_CASE("channel: large tickets are blobs, and large results arrive complete") {
  Fixture at;
  const NodeId node = at.join();
  const std::string large(100000, 'x');
  at.submit(1, large, 200000);
  const Lease lease = at.lease(node);
  CHECK(lease.input.empty());
  REQUIRE(lease.blobs.size() == 1);
  CHECK(text(at.blobs.read(lease.blobs[0])) == large);
  CHECK(at.answer(node, lease, std::string(150000, 'y')) == Outcome::accepted);
  CHECK(text(at.receive()->bytes) == std::string(150000, 'y'));
}

TEST_CASE("channel: receive() throws if the pool cannot continue") {
  Fixture at;
  at.join();
  at.submit(1, "one");
  at.channel.fail("the disk is full");
  CHECK(has(error_of([&] { at.channel.receive(1000); }), "the disk is full"));
}

}  // namespace
}  // namespace kaiseki::test
