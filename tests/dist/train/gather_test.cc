// SPDX-License-Identifier: MIT
// ResultGather: tickets that no node finishes, and the time that it waits for nodes.
#include "dist/train/gather.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <utility>

#include "matrix/ops/copy.h"
#include "nn/train/diverged.h"
#include "tests/dist/train/fixture.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::dist {
namespace {

const TunePolicy kSame = {.mode = TuneMode::off, .deterministic = true};

/// Nodes that can be late, silent or lost. Records their calls.
struct Watched : LocalNodes {
  using LocalNodes::LocalNodes;

  std::optional<TicketResult> receive(double seconds) override {
    waited.push_back(seconds);
    if (late > 0)  // simulates slow nodes
      std::this_thread::sleep_for(std::chrono::duration<double>(std::exchange(late, 0)));
    if (silent > 0 && --silent >= 0) return std::nullopt;
    if (const uint64_t id = std::exchange(dead, 0))
      return TicketResult{.ticket = id, .node = "node0", .dead = true};
    return LocalNodes::receive(seconds);
  }
  void close(uint64_t id) override {
    closed.push_back(id);
    LocalNodes::close(id);
  }
  std::vector<NodeRate> nodes() override {
    if (gone) return {};
    std::vector<NodeRate> nodes = LocalNodes::nodes();
    for (NodeRate& node : nodes) {
      node.down_mbit_s = node.up_mbit_s = mbit_s;
      node.round_trip_s = 0;
    }
    return nodes;
  }

  int silent = 0;     // calls of receive() without a result
  uint64_t dead = 0;  // the id of a dead ticket
  double late = 0;    // seconds
  double mbit_s = 100;
  bool gone = false;
  std::vector<double> waited;
  std::vector<uint64_t> closed;
};

/// The limits and the sizes of results.
struct Measured : LocalNodes {
  using LocalNodes::LocalNodes;

  void submit(uint64_t id, const Submission& ticket) override {
    most[id] = ticket.max_result;
    LocalNodes::submit(id, ticket);
  }
  std::optional<TicketResult> receive(double seconds) override {
    auto result = LocalNodes::receive(seconds);
    if (result) results.emplace_back(most.at(result->ticket), result->bytes);
    return result;
  }

  std::map<uint64_t, uint64_t> most;
  std::vector<std::pair<uint64_t, ByteVector>> results;
};

/// Steps of four tickets over one node.
struct Step {
  Run run;
  Watched nodes{some_nodes(1), 1};

  PoolUpdater updater(PoolTrainingOptions options = pool_options(PoolMode::data)) {
    return PoolUpdater(run.network, run.optimizer, run.iterator, {.base = 0.02}, nodes, options);
  }
};

}  // namespace

TEST_CASE("without results the server computes the last tickets, until a result comes") {
  test::WithTunePolicy policy(kSame);
  Step at;
  at.nodes.silent = 2;
  PoolUpdater updater = at.updater();
  updater.update();
  REQUIRE(at.nodes.closed.size() == 4);
  CHECK(at.nodes.closed[0] == 4);
  CHECK(at.nodes.closed[1] == 3);
  CHECK(updater.counts().by_server == 2);
  CHECK(updater.counts().accepted == 2);
  REQUIRE(at.nodes.waited.size() >= 4);
  CHECK(at.nodes.waited[0] == 30);
  CHECK(at.nodes.waited[1] == 0);
  CHECK(at.nodes.waited[2] == 0);
  CHECK(at.nodes.waited[3] == 30);
  Run expected(pool_options(PoolMode::data));
  CHECK(at.run.weights() == expected.train(1).weights());
}

TEST_CASE("results that the server computed to check a node are used when that is expelled") {
  test::WithTunePolicy policy(kSame);
  Step at;
  at.nodes.set_answer("node0", Liar({.lie = Lie::sign_flipped, .honest_until = 2}));
  PoolUpdater updater = at.updater();
  updater.update();
  CHECK(updater.counts().checked == 3);
  CHECK(updater.counts().expelled == 1);
  CHECK(updater.counts().by_server == 4);
  CHECK(at.nodes.closed.size() == 4);  // no ticket was issued again
  Run expected(pool_options(PoolMode::data));
  CHECK(at.run.weights() == expected.train(1).weights());
}

TEST_CASE("the server computes a dead ticket at once, and no other") {
  Step at;
  at.nodes.dead = 2;
  PoolUpdater updater = at.updater();
  updater.update();
  CHECK(at.nodes.closed[0] == 2);
  CHECK(updater.counts().by_server == 1);
  CHECK(updater.counts().accepted == 3);
}

TEST_CASE("the server waits three times the planned duration for slow links, up to a limit") {
  Step at;
  at.nodes.mbit_s = 0.01;
  PoolUpdater updater = at.updater();
  updater.update();
  const double planned = updater.step_seconds().value().planned;
  CHECK(planned > 30);
  CHECK(at.nodes.waited[0] == doctest::Approx(3 * planned));
  Step far;
  far.nodes.mbit_s = 1e-9;
  far.nodes.silent = 1;
  PoolUpdater slower = far.updater();
  slower.update();
  CHECK(far.nodes.waited[0] == 300);
  far.nodes.waited.clear();
  slower.update();
  CHECK(far.nodes.waited[0] == 30);  // the planned time was wrong
  CHECK(slower.counts().by_server == 1);
}

TEST_CASE("after a slow result the server waits three times as long for some steps") {
  Step at;
  at.nodes.mbit_s = 1e6;
  at.nodes.late = 0.4;
  PoolTrainingOptions options = pool_options(PoolMode::data);
  options.patience = 0.1;
  PoolUpdater updater = at.updater(options);
  updater.update();
  CHECK(at.nodes.waited[0] < 0.4);
  CHECK(at.nodes.waited[1] >= 1.2);
  at.nodes.waited.clear();
  updater.update();
  CHECK(at.nodes.waited[0] >= 1.2);
  for (int i = 0; i < 3; ++i) updater.update();
  CHECK(at.nodes.waited.back() < 0.6);  // no result is slow now
}

TEST_CASE("the wait for nodes that never answer in time halves with each step") {
  Step at;
  PoolUpdater updater = at.updater();
  const auto first_wait = [&](int silent) {
    at.nodes.silent = silent;
    at.nodes.waited.clear();
    updater.update();
    return at.nodes.waited.at(0);
  };
  double total = 0;
  for (int step = 0; step < 12; ++step) total += first_wait(4);
  CHECK(total > 59);
  CHECK(total < 60);
  CHECK(updater.counts().accepted == 0);
  CHECK(first_wait(3) < 0.01);  // a node answers while the server computes the others
  CHECK(updater.counts().accepted == 1);
  CHECK(first_wait(4) == 30);
  CHECK(first_wait(4) == 15);
  at.nodes.gone = true;
  first_wait(4);
  first_wait(4);
  at.nodes.gone = false;
  CHECK(first_wait(4) == 30);  // the nodes may be others
}

TEST_CASE("the limit of a result is its size and a little for headers") {
  // The last ticket of an epoch has five samples.
  const auto data = small_digits(21);
  for (const char* json : {kSmall, kNormalized})
    for (PoolMode mode : {PoolMode::data, PoolMode::concurrent_head, PoolMode::border})
      for (WireType wire : {WireType::f32, WireType::f16, WireType::i8}) {
        CAPTURE(pool_mode_name(mode));
        CAPTURE(static_cast<int>(wire));
        Run run({}, {}, 1, json, data);
        Measured nodes(some_nodes(2), 1);
        PoolUpdater updater(run.network, run.optimizer, run.iterator, {.base = 0.02}, nodes,
                            pool_options(mode, wire));
        for (int i = 0; i < 3; ++i) updater.update();
        REQUIRE(nodes.results.size() >= 9);
        for (const auto& [most, result] : nodes.results) {
          const uint64_t tensors = decode_tensors(result).tensors.size();
          CHECK(result.size() <= most);
          CHECK(most - result.size() <= 256 + 128 * tensors);
        }
        CHECK(updater.counts().refused == 0);
        CHECK(updater.counts().by_server == 0);
      }
}

TEST_CASE("diverging training throws Diverged, with and without nodes") {
  for (PoolMode mode : {PoolMode::data, PoolMode::concurrent_head, PoolMode::border})
    for (int nodes : {0, 2}) {
      CAPTURE(pool_mode_name(mode));
      CAPTURE(nodes);
      for (const float value : {3e38f, INFINITY}) {
        Run run(pool_options(mode), some_nodes(nodes));
        fill(run.network.parameters()[0].value, value);
        CHECK_THROWS_WITH_AS(run.train(1), doctest::Contains("use a smaller learning rate"),
                             nn::Diverged);
        CHECK(run.nodes->expelled().empty());
      }
    }
}

}  // namespace kaiseki::dist
