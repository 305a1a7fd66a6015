// SPDX-License-Identifier: MIT
// Nodes that lie after honest results. The final weights equal those of training without them.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "nn/train/diverged.h"
#include "tests/dist/train/fixture.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::dist {
namespace {

const TunePolicy kSame = {.mode = TuneMode::off, .deterministic = true};
constexpr PoolMode kModes[] = {PoolMode::data, PoolMode::concurrent_head, PoolMode::border};
/// Options without checks and without undo.
constexpr TrustOptions kOff = {
    .checks = {.check_share = 0, .newcomer_checks = 0}, .undo_steps = 0, .seed = 1};

/// The last `liars` of three nodes attack.
std::vector<LocalNode> nodes_with(const Attack& attack, int liars = 1) {
  std::vector<LocalNode> nodes = some_nodes(3);
  for (int i = 3 - liars; i < 3; ++i) nodes[static_cast<size_t>(i)].answer = Liar(attack);
  return nodes;
}

constexpr double kDrift = 0.0099;  // compare() tolerates 0.01

/// The first five attack.
std::vector<LocalNode> seven_nodes(const Attack& attack) {
  std::vector<LocalNode> nodes;
  for (int i = 0; i < 7; ++i)
    nodes.push_back({.name = (i < 5 ? "liar" : "honest") + std::to_string(i),
                     .answer = i < 5 ? LocalAnswer(Liar(attack)) : LocalAnswer()});
  return nodes;
}

bool five_liars(const std::vector<std::string>& expelled) {
  return expelled.size() == 5 &&
         std::ranges::all_of(expelled, [](const auto& name) { return name.starts_with("liar"); });
}

struct Case {
  const char* name;
  Attack attack;
};
const Case kAttacks[] = {
    {"gradients times -10000 after 20 results", {Lie::scaled, -1e4, 20}},
    {"times a million", {Lie::scaled, 1e6, 12}},
    {"times 10", {Lie::scaled, 10, 12}},
    {"signs flipped", {Lie::sign_flipped, 1, 20}},
    {"noise", {Lie::noise, 1, 20}},
    {"as much again in another direction", {Lie::drifted, 1, 20}},
    {"one in five flipped", {Lie::sign_flipped, 1, 12, 5}},
    {"one in five times -100", {Lie::scaled, -100, 12, 5}},
    {"one in three with noise", {Lie::noise, 1, 20, 3}},
    {"labels exchanged", {Lie::label_flipped, 1, 20}},
    {"labels exchanged in one of three", {Lie::label_flipped, 1, 12, 3}},
};

/// Returns whether the attack is possible in this mode. Tickets of `border` have no labels.
bool applies(const Attack& attack, PoolMode mode) {
  return attack.lie != Lie::label_flipped || mode != PoolMode::border;
}

}  // namespace

TEST_CASE("wrong results of a proven node are undone, for every kind of lie") {
  test::WithTunePolicy policy(kSame);
  uint64_t seed = 0;
  for (PoolMode mode : kModes)
    for (const Case& one : kAttacks) {
      if (!applies(one.attack, mode)) continue;
      CAPTURE(pool_mode_name(mode));
      CAPTURE(one.name);
      const WireType wires[] = {WireType::f32, WireType::f16, WireType::i8};
      PoolTrainingOptions options = pool_options(mode, wires[seed % 3]);
      options.trust.seed = ++seed;
      CAPTURE(seed);
      Run honest(options), lied(options, nodes_with(one.attack));
      while (lied.nodes->expelled().empty() && lied.losses.size() < 150) lied.train(1);
      CHECK(lied.nodes->expelled() == std::vector<std::string>{"node2"});
      lied.train(1);
      const int steps = static_cast<int>(lied.losses.size());
      CHECK(lied.updater->step() == steps);
      CHECK(lied.weights() == honest.train(steps).weights());
      CHECK(lied.iterator.state() == honest.iterator.state());
    }
}

TEST_CASE("an undo restores all state, for every optimizer and batch normalization") {
  test::WithTunePolicy policy(kSame);
  for (PoolMode mode : kModes)
    for (const char* optimizer : {"sgd", "momentum", "adam"}) {
      CAPTURE(pool_mode_name(mode));
      CAPTURE(optimizer);
      const auto run = [&](const std::vector<LocalNode>& nodes) {
        return std::make_unique<Run>(pool_options(mode), nodes, 1, kNormalized, small_digits(320),
                                     nn::OptimizerOptions{.name = optimizer}, 0.002);
      };
      const auto lied = run(nodes_with({Lie::sign_flipped, 1, 24})), honest = run({});
      while (lied->pool().counts().undone == 0 && lied->losses.size() < 150) lied->train(1);
      lied->train(1);
      CHECK(lied->nodes->expelled().size() == 1);
      CHECK(lied->weights() == honest->train(static_cast<int>(lied->losses.size())).weights());
      CHECK(lied->nodes->blobs() == 1);  // the network; weights and samples are deleted
    }
}

TEST_CASE("a lie is found after honest results of another kind") {
  test::WithTunePolicy policy(kSame);
  for (int64_t when = 8; when < 20; ++when)
    for (double factor : {1e3, -1e5}) {
      CAPTURE(when);
      CAPTURE(factor);
      std::vector<LocalNode> nodes = {
          {.name = "liar", .seconds = 0.01}, {.name = "a"}, {.name = "b"}};
      nodes[0].answer = Liar({Lie::scaled, factor, when, int64_t{1} << 40});
      Run honest(pool_options(PoolMode::border)), lied(pool_options(PoolMode::border), nodes);
      lied.train(8);
      CHECK(lied.nodes->expelled() == std::vector<std::string>{"liar"});
      CHECK(lied.weights() == honest.train(8).weights());
    }
}

TEST_CASE("a negative variance in the last step of an epoch is found") {
  test::WithTunePolicy policy(kSame);
  for (PoolMode mode : {PoolMode::data, PoolMode::border})
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(pool_mode_name(mode));
      CAPTURE(seed);
      PoolTrainingOptions options = pool_options(mode);
      options.trust.seed = seed;
      std::vector<LocalNode> nodes = some_nodes(3);
      Run lied(options, nodes, 1, kNormalized), honest(options, {}, 1, kNormalized);
      lied.train(99);
      for (int i = 0; i < 3; ++i)
        lied.nodes->set_answer("node" + std::to_string(i), Liar({Lie::sign_flipped}));
      lied.train(1);  // the last step of the tenth epoch
      CHECK(lied.iterator.is_new_epoch());
      CHECK(lied.nodes->expelled().size() == 3);
      CHECK(lied.weights() == honest.train(100).weights());
    }
}

TEST_CASE("two of three nodes that send the same lie are both found") {
  test::WithTunePolicy policy(kSame);
  std::string warnings;
  set_log_sink([&](LogLevel, std::string_view text) { (warnings += text) += '\n'; });
  for (PoolMode mode : kModes) {
    CAPTURE(pool_mode_name(mode));
    Run honest(pool_options(mode));
    Run lied(pool_options(mode), nodes_with({Lie::sign_flipped, 1, 20}, 2));
    while (lied.nodes->expelled().size() < 2 && lied.losses.size() < 150) lied.train(1);
    lied.train(1);
    CHECK(lied.nodes->expelled().size() == 2);
    CHECK(lied.pool().counts().undone > 0);
    CHECK(lied.weights() == honest.train(static_cast<int>(lied.losses.size())).weights());
    const bool named = warnings.find("node node1 sent wrong results") != std::string::npos ||
                       warnings.find("node node2 sent wrong results") != std::string::npos;
    CHECK(named);
    CHECK(warnings.find("are trained again") != std::string::npos);
    warnings.clear();
  }
  set_log_sink({});
}

TEST_CASE("without checks these lies change the weights") {
  test::WithTunePolicy policy(kSame);
  for (PoolMode mode : kModes)
    for (const Case& one : kAttacks) {
      if (!applies(one.attack, mode)) continue;
      CAPTURE(pool_mode_name(mode));
      CAPTURE(one.name);
      PoolTrainingOptions off = pool_options(mode);
      off.trust = kOff;
      Run honest(pool_options(mode)), lied(off, nodes_with(one.attack, 2));
      honest.train(40);
      try {
        lied.train(40);
      } catch (const nn::Diverged&) {
        continue;
      }
      CHECK(lied.nodes->expelled().empty());
      CHECK(difference(lied.weights(), honest.weights()) > 0.05);
    }
}

TEST_CASE("five of seven nodes that drift by 1 % are found by their mean deviation") {
  test::WithTunePolicy policy(kSame);
  for (PoolMode mode : kModes)
    for (WireType wire : {WireType::f32, WireType::f16}) {
      CAPTURE(pool_mode_name(mode));
      CAPTURE(static_cast<int>(wire));
      PoolTrainingOptions options = pool_options(mode, wire);
      options.trust.checks.check_share = 0.2;
      Run honest(options), early(options, seven_nodes({Lie::drifted, kDrift})),
          late(options, seven_nodes({Lie::drifted, kDrift, 20}));
      early.train(60);
      CHECK(five_liars(early.nodes->expelled()));
      CHECK(early.pool().counts().undone == 0);  // no result counted without a check
      while (late.nodes->expelled().size() < 5 && late.losses.size() < 400) late.train(1);
      CHECK(five_liars(late.nodes->expelled()));
      CHECK(late.pool().counts().undone > 0);
      const size_t steps = late.losses.size();
      honest.train(static_cast<int>(std::max<size_t>(60, steps)));
      CHECK(early.losses[59] == doctest::Approx(honest.losses[59]).epsilon(0.1));
      CHECK(late.losses.back() == doctest::Approx(honest.losses[steps - 1]).epsilon(0.1));
    }
}

TEST_CASE("five of seven nodes that drift by a thousandth are tolerated, and change little") {
  test::WithTunePolicy policy(kSame);
  for (PoolMode mode : kModes) {
    CAPTURE(pool_mode_name(mode));
    Run honest(pool_options(mode)), lied(pool_options(mode), seven_nodes({Lie::drifted, 0.001}));
    honest.train(60);
    lied.train(60);
    CHECK(lied.nodes->expelled().empty());
    CHECK(lied.losses.back() == doctest::Approx(honest.losses.back()).epsilon(0.02));
  }
}

TEST_CASE("if training diverges, its last steps are repeated with all results checked") {
  test::WithTunePolicy policy(kSame);
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel, std::string_view text) { warnings.emplace_back(text); });
  for (PoolMode mode : kModes) {
    CAPTURE(pool_mode_name(mode));
    PoolTrainingOptions options = pool_options(mode);
    options.trust = {.checks = {.check_share = 0, .newcomer_checks = 0},
                     .seed = 1};  // no random checks
    Run honest(pool_options(mode)), lied(options, nodes_with({Lie::scaled, -1e18, 8}));
    honest.train(30);
    lied.train(30);
    CHECK(lied.nodes->expelled() == std::vector<std::string>{"node2"});
    CHECK(lied.pool().counts().undone > 0);
    CHECK(lied.weights() == honest.weights());
    bool named = false, again = false;
    for (const std::string& one : warnings) {
      named |= one.find("node node2 is expelled") != std::string::npos;
      again |= one.find("all results are checked now; steps") != std::string::npos;
      CHECK(one.find("learning rate") == std::string::npos);
    }
    CHECK(named);
    CHECK(again);
    CHECK(lied.nodes->blobs() == 1);
    CHECK(lied.nodes->open() == 0);
    warnings.clear();
  }
  set_log_sink({});
}

TEST_CASE("training that diverges without lies throws Diverged after one more try") {
  for (PoolMode mode : kModes) {
    CAPTURE(pool_mode_name(mode));
    PoolTrainingOptions options = pool_options(mode);
    options.trust.checks.newcomer_checks = 1;
    Run run(options, some_nodes(2), 1, kSmall, small_digits(320), {}, 1e15);
    CHECK_THROWS_AS(run.train(50), nn::Diverged);
    CHECK(run.nodes->expelled().empty());
  }
}

TEST_CASE("training continues while nodes lie one after the other") {
  test::WithTunePolicy policy(kSame);
  std::vector<LocalNode> nodes = some_nodes(1);
  for (int i = 0; i < 12; ++i)  // each is honest until many of its results were not checked
    nodes.push_back({.name = "liar" + std::to_string(i),
                     .joins_at = 100 * i,
                     .answer = Liar({Lie::scaled, -1e4, 40})});
  Run honest(pool_options(PoolMode::data)), lied(pool_options(PoolMode::data), nodes);
  lied.train(150);
  CHECK(lied.nodes->expelled().size() > 5);  // the other nodes are not proven yet
  CHECK(lied.pool().counts().undone < 300);
  CHECK(lied.weights() == honest.train(150).weights());
}

TEST_CASE("training can stop while steps are repeated, and continues from there") {
  test::WithTunePolicy policy(kSame);
  bool stop = false;
  PoolTrainingOptions options = pool_options(PoolMode::data);
  options.stop = [&] { return stop; };
  Run honest(pool_options(PoolMode::data)), lied(options, nodes_with({Lie::sign_flipped, 1, 20}));
  int64_t before = 0;
  while (lied.pool().counts().undone == 0 && lied.losses.size() < 150) {
    before = lied.updater->step();
    stop = before > 5;  // from the first repeated step on
    lied.train(1);
  }
  CHECK(lied.updater->step() <= before);
  stop = false;
  while (lied.updater->step() < before + 5) lied.train(1);
  CHECK(lied.weights() == honest.train(static_cast<int>(before + 5)).weights());
}

TEST_CASE("with undo_steps 0 no step is undone") {
  test::WithTunePolicy policy(kSame);
  PoolTrainingOptions options = pool_options(PoolMode::data);
  options.trust.undo_steps = 0;
  Run run(options, nodes_with({Lie::sign_flipped, 1, 20}));
  while (run.nodes->expelled().empty() && run.losses.size() < 150) run.train(1);
  run.train(2);
  CHECK(run.pool().counts().undone == 0);
  CHECK(run.updater->step() == static_cast<int64_t>(run.losses.size()));
}

}  // namespace kaiseki::dist
