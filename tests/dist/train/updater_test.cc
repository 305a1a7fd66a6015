// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "dist/train/pool_after.h"
#include "dist/train/pool_updater.h"
#include "nn/train/checkpoint.h"
#include "nn/train/trainer.h"
#include "tests/dist/train/fixture.h"
#include "tests/dist/train/scenes.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::dist {
namespace {

/// Selects convolutions without measurements.
const TunePolicy kSame = {.mode = TuneMode::off, .deterministic = true};
constexpr PoolMode kModes[] = {PoolMode::data, PoolMode::concurrent_head, PoolMode::border};

#ifdef KAISEKI_SLOW_BUILD
constexpr int kSteps = 40, kRuleSteps = 10, kWireSteps = 15;
constexpr float kLearned = 0.95f;  // share of the first loss
constexpr uint64_t kSeeds = 1;
const std::vector<int> kNodes{1, 3};
#else
constexpr int kSteps = 100, kRuleSteps = 30, kWireSteps = 60;
constexpr float kLearned = 0.7f;
constexpr uint64_t kSeeds = 3;
const std::vector<int> kNodes{1, 2, 3, 5};
#endif

Weights named(const std::string& name, const Weights& all) {
  const auto found = std::ranges::find(all, name, [](const auto& tensor) { return tensor.first; });
  REQUIRE(found != all.end());
  return {*found};
}

}  // namespace

TEST_CASE("1, 2, 3 and 5 nodes give the weights of one machine after 100 steps, in every mode") {
  test::WithTunePolicy policy(kSame);
  // The last minibatch of an epoch has 21 samples in three tickets, the last with five samples.
  const auto data = small_digits(8 * 32 + 21);
  Run alone({}, {}, 1, kSmall, data);
  const Weights expected = alone.train(kSteps).weights();
  CHECK(alone.losses.back() < kLearned * alone.losses.front());
  for (PoolMode mode : kModes) {
    CAPTURE(pool_mode_name(mode));
    std::optional<Weights> first;
    for (int count : kNodes) {
      CAPTURE(count);
      Run run(pool_options(mode), some_nodes(count), 1, kSmall, data);
      const Weights found = run.train(kSteps).weights();
      CHECK(difference(found, expected) < 1e-5);
      CHECK(run.losses.back() == doctest::Approx(alone.losses.back()).epsilon(1e-4));
      CHECK(run.pool().counts().by_server == 0);
      CHECK(run.pool().counts().expelled == 0);
      if (!first) first = found;
      CHECK(found == *first);
    }
  }
}

TEST_CASE("every optimizer gives the same weights over a pool as on one machine") {
  test::WithTunePolicy policy(kSame);
  struct Rule {
    nn::OptimizerOptions options;
    double rate;
  };
  // The last minibatch of an epoch has 21 samples.
  const auto data = small_digits(8 * 32 + 21);
  const Weights plain = Run({}, {}, 1, kSmall, data).train(kRuleSteps).weights();
  for (const Rule& rule :
       {Rule{{.name = "momentum", .weight_decay = 0.01}, 0.02},
        Rule{{.name = "momentum", .clip_norm = 0.5}, 0.02},
        Rule{{.name = "nesterov", .weight_decay = 0.01, .clip_norm = 0.5}, 0.02},
        Rule{{.name = "adam"}, 0.001}, Rule{{.name = "adamw", .clip_norm = 0.5}, 0.001}}) {
    CAPTURE(rule.options.name);
    const auto run = [&](const std::optional<PoolTrainingOptions>& options) {
      return Run(options, some_nodes(2), 1, kSmall, data, rule.options, rule.rate);
    };
    const Weights expected = run({}).train(kRuleSteps).weights();
    CHECK(difference(plain, expected) > 1e-3);
    for (PoolMode mode : kModes) {
      CAPTURE(pool_mode_name(mode));
      CHECK(difference(run(pool_options(mode)).train(kRuleSteps).weights(), expected) < 1e-5);
    }
  }
}

TEST_CASE("the order of answers, deaths, joins and duplicates change no bit") {
  test::WithTunePolicy policy(kSame);
  for (PoolMode mode : kModes)
    for (WireType wire : {WireType::f32, WireType::f16, WireType::i8}) {
      CAPTURE(pool_mode_name(mode));
      CAPTURE(static_cast<int>(wire));
      Run one(pool_options(mode, wire), some_nodes(1), 1);
      const Weights expected = one.train(8).weights();
      Run none(pool_options(mode, wire));
      CHECK(none.train(8).weights() == expected);
      CHECK(none.pool().counts().accepted == 0);
      for (uint64_t seed = 2; seed < 2 + kSeeds; ++seed) {
        std::vector<LocalNode> nodes = some_nodes(4);
        nodes[0].dies_after = 3;
        nodes[1].joins_at = 9;
        nodes[2].seconds = 40;
        nodes[3].joins_at = 5;
        nodes[3].dies_after = 11;
        Run run(pool_options(mode, wire), nodes, seed);
        CHECK(run.train(8).weights() == expected);
        CHECK(run.losses == one.losses);
        CHECK(run.nodes->nodes().size() <= 3);
        CHECK(run.nodes->blobs() == 1);
      }
    }
}

TEST_CASE("in the mode concurrent_head the server computes with the images that nodes get") {
  test::WithTunePolicy policy(kSame);
  constexpr const char* kPictures = R"({"inputs": {"x": {"shape": [3, 64, 64]}}, "layers": [
    {"name": "conv1", "type": "convolution", "output_channels": 4, "kernel_size": 3, "stride": 2},
    {"name": "act1", "type": "tanh"},
    {"name": "fc2", "type": "fully_connected", "output_size": 10},
    {"name": "probability", "type": "softmax"}]})";
  const auto data = std::make_shared<test::Scenes>(64, 64);
  auto moved = [&](std::optional<PoolTrainingOptions> options, int nodes) {
    Run run(options, some_nodes(nodes), 1, kPictures, data);
    Weights weights = run.weights();
    run.train(1);
    const Weights after = run.weights();
    for (size_t i = 0; i < weights.size(); ++i)
      for (size_t k = 0; k < weights[i].second.size(); ++k)
        weights[i].second[k] = after[i].second[k] - weights[i].second[k];
    return weights;
  };
  const Weights alone = moved({}, 0),
                by_nodes = moved(pool_options(PoolMode::data, WireType::f16), 2);
  // f16 rounds weights and gradients to 11 bits. JPEG changes these images far more.
  CHECK(difference(by_nodes, alone) > 0.01);
  CHECK(difference(moved(pool_options(PoolMode::concurrent_head, WireType::f16), 2), by_nodes) <
        0.003);
  CHECK(difference(moved(pool_options(PoolMode::data), 2), alone) < 1e-5);
}

TEST_CASE("if the last node dies during a step, the server finishes the step") {
  test::WithTunePolicy policy(kSame);
  for (PoolMode mode : kModes) {
    Run expected(pool_options(mode), some_nodes(1));
    std::vector<LocalNode> nodes = some_nodes(1);
    nodes[0].dies_after = 2;
    Run run(pool_options(mode), nodes);
    CHECK(run.train(3).weights() == expected.train(3).weights());
    CHECK(run.pool().counts().accepted == 2);
    CHECK(run.pool().counts().by_server > 0);
  }
}

TEST_CASE("batch normalization uses a ticket's samples; running statistics are the tickets' mean") {
  test::WithTunePolicy policy(kSame);
  for (PoolMode mode : kModes) {
    CAPTURE(pool_mode_name(mode));
    // With one ticket per minibatch the result is that of one machine.
    PoolTrainingOptions whole = pool_options(mode);
    whole.ticket_samples = 32;
    Run alone({}, {}, 1, kNormalized), same(whole, some_nodes(2), 1, kNormalized);
    CHECK(difference(same.train(20).weights(), alone.train(20).weights()) < 1e-5);
    Run one(pool_options(mode), some_nodes(1), 1, kNormalized);
    Run three(pool_options(mode), some_nodes(3), 2, kNormalized);
    const Weights found = three.train(20).weights();
    CHECK(found == one.train(20).weights());
    CHECK(three.losses.back() < three.losses.front());
  }
}

TEST_CASE("the running mean over tickets equals that of the minibatch") {
  test::WithTunePolicy policy(kSame);
  Run alone({}, {}, 1, kNormalized), pool(pool_options(PoolMode::border), {}, 1, kNormalized);
  CHECK(difference(named("bn1.running_mean", pool.train(1).weights()),
                   named("bn1.running_mean", alone.train(1).weights())) < 1e-5);
}

TEST_CASE("batch normalization accepts a short last ticket, even of one sample") {
  test::WithTunePolicy policy(kSame);
  for (PoolMode mode : kModes) {
    CAPTURE(pool_mode_name(mode));
    const auto data = small_digits(25);  // a minibatch of 25: tickets of 8, 8, 8 and 1
    Run one(pool_options(mode), some_nodes(1), 1, kNormalized, data);
    Run three(pool_options(mode), some_nodes(3), 2, kNormalized, data);
    const Weights found = three.train(20).weights();
    CHECK(found == one.train(20).weights());
    CHECK(three.losses.back() < three.losses.front());
    CHECK(three.pool().counts().expelled == 0);
    for (const auto& [name, values] : found)
      for (float value : values) REQUIRE(std::isfinite(value));
  }
  // The mean over tickets is weighted by their samples.
  Run alone({}, {}, 1, kNormalized, small_digits(25));
  Run pool(pool_options(PoolMode::border), some_nodes(2), 1, kNormalized, small_digits(25));
  CHECK(difference(named("bn1.running_mean", pool.train(1).weights()),
                   named("bn1.running_mean", alone.train(1).weights())) < 1e-5);
}

TEST_CASE("training with f16 and i8 on the wire learns") {
  test::WithTunePolicy policy(kSame);
  Run alone;
  alone.train(kWireSteps);
  for (PoolMode mode : kModes)
    for (WireType wire : {WireType::f16, WireType::i8}) {
      Run run(pool_options(mode, wire), some_nodes(2));
      run.train(kWireSteps);
      CHECK(run.losses.back() == doctest::Approx(alone.losses.back()).epsilon(0.1));
    }
}

TEST_CASE("a node fetches the weights once for all its tickets") {
  Run run(pool_options(PoolMode::concurrent_head), some_nodes(1));
  run.train(1);
  const uint64_t once = run.nodes->bytes().weights;
  int64_t parameters = 0;
  for (nn::Parameter& one : run.network.parameters()) parameters += one.value.size();
  CHECK(once >= static_cast<uint64_t>(4 * parameters));
  CHECK(once < static_cast<uint64_t>(4 * parameters) + 1000);
  run.train(2);
  CHECK(run.nodes->bytes().weights == 3 * once);
  CHECK(run.nodes->bytes().network < 3000);
}

TEST_CASE("the option border selects the layer") {
  test::WithTunePolicy policy(kSame);
  Run alone;
  const Weights expected = alone.train(10).weights();
  for (const char* border : {"conv1", "act2", "fc3"}) {
    PoolTrainingOptions options = pool_options(PoolMode::border);
    options.border = border;
    Run run(options, some_nodes(2));
    CHECK(difference(run.train(10).weights(), expected) < 1e-5);
  }
  PoolTrainingOptions options = pool_options(PoolMode::data);
  options.border = "nowhere";
  CHECK_THROWS_WITH_AS(Run(options, some_nodes(1)), doctest::Contains("'nowhere'"), Error);
}

TEST_CASE("automatic: one machine until a node joins, then the fastest mode") {
  test::WithTunePolicy policy(kSame);
  Run alone;
  const Weights expected = alone.train(4).weights();
  Run none(pool_options(PoolMode::automatic));
  CHECK(none.train(4).weights() == expected);
  CHECK(none.pool().mode() == PoolMode::automatic);
  Run run(pool_options(PoolMode::automatic), some_nodes(2));
  CHECK(difference(run.train(4).weights(), expected) < 1e-5);
  CHECK(run.pool().mode() != PoolMode::automatic);
}

TEST_CASE("automatic: each epoch selects the mode for the present nodes") {
  test::WithTunePolicy policy(kSame);
  struct Rated : LocalNodes {
    using LocalNodes::LocalNodes;
    std::vector<NodeRate> nodes() override {
      NodeRate node{.name = "slow", .gflops = 1e-4, .round_trip_s = 0};
      if (far) node = {.name = "far", .round_trip_s = 9};
      node.down_mbit_s = node.up_mbit_s = 1e6;
      return {node};
    }
    bool far = false;
  };
  PoolTrainingOptions options = pool_options(PoolMode::automatic);
  options.server = {1e6, 1e6};
  Run alone, run;
  Rated nodes(some_nodes(2), 1);
  PoolUpdater updater(run.network, run.optimizer, run.iterator, {.base = 0.02}, nodes, options);
  const auto train = [&](int steps) {
    for (int i = 0; i < steps; ++i) updater.update();
    return updater.mode();
  };
  CHECK(train(4) == PoolMode::border);
  nodes.far = true;
  CHECK(train(6) == PoolMode::border);  // ten steps are an epoch
  CHECK(updater.step_seconds().value().planned == doctest::Approx(2 * 4 * 2 * 9).epsilon(0.01));
  CHECK(train(1) == PoolMode::concurrent_head);
  CHECK(updater.step_seconds().value().planned == doctest::Approx(4 * 2 * 9).epsilon(0.01));
  nodes.far = false;
  CHECK(train(9) == PoolMode::concurrent_head);
  CHECK(train(1) == PoolMode::border);
  CHECK(difference(run.weights(), alone.train(21).weights()) < 1e-5);
  CHECK(updater.counts().expelled == 0);
  CHECK(nodes.blobs() == 1);
}

TEST_CASE("training joins the pool at the accuracy, and a checkpoint stores the join") {
  CHECK(parse_pool_after("accuracy=0.5").accuracy == 0.5);
  for (const char* text : {"", "accuracy", "accuracy=", "accuracy=1.5", "accuracy=0.5x", "loss=1"})
    CHECK_THROWS_WITH_AS(parse_pool_after(text), doctest::Contains("accuracy=NUMBER"), Error);

  PoolTrainingOptions options = pool_options(PoolMode::border);
  options.alone = true;
  Run run(options, some_nodes(2));
  nn::Trainer trainer(*run.updater, {.epochs = 12});
  auto& join = trainer.extend(std::make_unique<JoinPool>(run.pool(), PoolAfter{0.5}));
  double joined_at = -1;
  struct Watch : nn::Extension {
    Run& run;
    double& joined_at;
    Watch(Run& of, double& at) : run(of), joined_at(at) {}
    void on_epoch(nn::Trainer& of) override {
      if (run.pool().joined() && joined_at < 0) joined_at = of.epoch_totals().accuracy();
      if (joined_at < 0) CHECK(run.pool().counts().accepted == 0);
    }
  };
  trainer.extend(std::make_unique<Watch>(run, joined_at));
  trainer.run();
  CHECK(joined_at >= 0.5);
  CHECK(run.pool().counts().accepted > 0);

  nn::Metadata state;
  join.save(state);
  Run again(options, some_nodes(1));
  JoinPool restored(again.pool(), PoolAfter{0.5});
  restored.restore({});
  CHECK(!again.pool().joined());
  restored.restore(state);
  CHECK(again.pool().joined());
}

TEST_CASE("training on one machine first and then over a pool gives the weights of one machine") {
  test::WithTunePolicy policy(kSame);
  Run alone;
  const Weights expected = alone.train(20).weights();
  for (PoolMode mode : kModes) {
    PoolTrainingOptions options = pool_options(mode);
    options.alone = true;
    Run run(options, some_nodes(2));
    run.train(10);
    run.pool().join();
    CHECK(difference(run.train(10).weights(), expected) < 1e-5);
    CHECK(run.pool().counts().accepted >= 40);
  }
}

TEST_CASE("a run over a pool continues from its checkpoint, bit for bit") {
  test::WithTunePolicy policy(kSame);
  const auto file = std::filesystem::temp_directory_path() /
                    ("kaiseki-pool-" + std::to_string(::getpid()) + ".safetensors");
  const PoolTrainingOptions options = pool_options(PoolMode::border, WireType::f16);
  Run whole(options, some_nodes(2));
  nn::Trainer trainer(*whole.updater, {.epochs = 1, .seed = 11});
  trainer.run();
  nn::write_checkpoint(file, trainer);
  whole.train(5);
  Run resumed(options, some_nodes(3), 9);
  resumed.train(2);
  nn::Trainer after(*resumed.updater, {.epochs = 2});
  nn::read_checkpoint(file, after);
  resumed.train(5);
  CHECK(resumed.weights() == whole.weights());
  std::filesystem::remove(file);
}

}  // namespace kaiseki::dist
