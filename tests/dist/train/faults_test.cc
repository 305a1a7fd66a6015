// SPDX-License-Identifier: MIT
// Hostile nodes: what they send never reaches the weights.
#include <doctest/doctest.h>

#include "matrix/error.h"
#include "tests/dist/train/fixture.h"
#include "tests/support/conv_policy.h"

namespace kaiseki::dist {
namespace {

const ConvPolicy kSame = {.mode = TuneMode::off, .deterministic = true};
constexpr PoolMode kModes[] = {PoolMode::data, PoolMode::paper, PoolMode::border};

}  // namespace

TEST_CASE("whatever a newcomer sends for a result, it is put out and the weights are right") {
  test::WithConvPolicy policy(kSame);
  for (PoolMode mode : kModes) {
    Run honest(pool_options(mode), some_nodes(2));
    const Weights expected = honest.train(6).weights();
    for (Lie lie : {Lie::sign_flipped, Lie::wrong_shape, Lie::wrong_type, Lie::not_finite,
                    Lie::replayed, Lie::noise, Lie::oversized}) {
      CAPTURE(pool_mode_name(mode));
      CAPTURE(static_cast<int>(lie));
      std::vector<LocalNode> nodes = some_nodes(3);
      nodes[1].lie = lie;
      nodes[1].honest_until = 1;
      Run run(pool_options(mode), nodes);
      CHECK(run.train(6).weights() == expected);
      CHECK(run.nodes->expelled() == std::vector<std::string>{"node1"});
      CHECK(run.pool().counts().expelled == 1);
      CHECK(run.pool().counts().refused == (lie == Lie::sign_flipped || lie == Lie::noise ? 0 : 1));
    }
  }
}

TEST_CASE("halves and bytes are wanted as such: a node that sends floats for them is put out") {
  test::WithConvPolicy policy(kSame);
  for (WireType wire : {WireType::f16, WireType::i8})
    for (PoolMode mode : kModes) {
      CAPTURE(pool_mode_name(mode));
      std::vector<LocalNode> nodes = some_nodes(2);
      nodes[1].lie = Lie::wrong_type;
      nodes[1].honest_until = 1;
      Run honest(pool_options(mode, wire)), run(pool_options(mode, wire), nodes);
      CHECK(run.train(4).weights() == honest.train(4).weights());
      CHECK(run.nodes->expelled() == std::vector<std::string>{"node1"});
      CHECK(run.pool().counts().refused == 1);
    }
}

TEST_CASE("a proven node that flips signs is caught") {
  test::WithConvPolicy policy(kSame);
  for (PoolMode mode : kModes) {
    CAPTURE(pool_mode_name(mode));
    PoolTrainingOptions options = pool_options(mode);
    options.trust.check_share = 0.3;
    std::vector<LocalNode> nodes = some_nodes(3);
    nodes[2].lie = Lie::sign_flipped;
    nodes[2].honest_until = 12;
    int caught = 0;
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      options.trust.seed = seed;
      Run run(options, nodes, seed);
      while (run.nodes->expelled().empty() && run.losses.size() < 60) run.train(1);
      caught += run.nodes->expelled() == std::vector<std::string>{"node2"};
    }
    CHECK(caught == 8);
  }
}

TEST_CASE("a step in which a liar is caught has nothing of it, whatever was accepted before") {
  test::WithConvPolicy policy(kSame);
  for (PoolMode mode : kModes) {
    CAPTURE(pool_mode_name(mode));
    Run honest(pool_options(mode));
    const Weights expected = honest.train(1).weights();
    PoolTrainingOptions options = pool_options(mode);
    options.trust = {.check_share = 0.2, .newcomer_checks = 0};
    std::vector<LocalNode> nodes = some_nodes(1);
    nodes[0].lie = Lie::sign_flipped;
    int caught = 0, in_the_second_half = 0;
    for (uint64_t seed = 1; seed <= 30; ++seed) {
      options.trust.seed = seed;
      Run run(options, nodes);
      run.train(1);
      if (run.nodes->expelled().empty()) continue;
      ++caught;
      in_the_second_half += run.pool().counts().accepted >= 4;
      CHECK(run.weights() == expected);
    }
    CHECK(caught > 5);
    // Then its activations were in the gradients of the tail already.
    if (mode == PoolMode::border) CHECK(in_the_second_half > 1);
  }
}

TEST_CASE("results agree when each tensor does; rounding around a zero is no lie") {
  const Piece piece{{}, {{"output", {2}, false}, {"g", {2}, true}, {"b", {2}, true}}};
  auto message = [](std::vector<std::vector<float>> values) {
    TensorMessage result;
    for (const auto& one : values)
      result.tensors.push_back(
          {"x", Tensor::from(std::span<const float>(one), {2}, Device::cpu())});
    return result;
  };
  const TensorMessage own = message({{900, -900}, {1e-3f, 2e-3f}, {1e-9f, 0}});
  CHECK(agree(piece, own, own));
  CHECK(agree(piece, message({{901, -900}, {1.001e-3f, 2e-3f}, {-1e-9f, 2e-9f}}), own));
  CHECK(!agree(piece, message({{900, -900}, {-1e-3f, -2e-3f}, {1e-9f, 0}}), own));
  CHECK(!agree(piece, message({{900, -900}, {1.05e-3f, 2e-3f}, {1e-9f, 0}}), own));
  CHECK(!agree(piece, message({{900, -880}, {1e-3f, 2e-3f}, {1e-9f, 0}}), own));
  CHECK(!agree(piece, message({{900, -900}, {1e-3f, 2e-3f}, {1e-5f, 0}}), own));
}

TEST_CASE("bytes that were rounded to the other side are no lie, two steps off are one") {
  Piece piece{{}, {{"g", {3}, true, WireType::i8}}};
  auto message = [](std::vector<float> values) {
    TensorMessage result;
    result.tensors.push_back(
        {"g", Tensor::from(std::span<const float>(values), {3}, Device::cpu())});
    return result;
  };
  const TensorMessage own = message({12.7f, 0.1f, -3});
  CHECK(agree(piece, message({12.6f, 0.2f, -3.1f}), own));
  CHECK(!agree(piece, message({12.7f, 0.4f, -3}), own));
  CHECK(!agree(piece, message({-12.7f, -0.1f, 3}), own));
  CHECK(!agree(piece, message({NAN, 0.1f, -3}), own));
  piece.wanted[0].type = WireType::f16;
  CHECK(!agree(piece, message({12.6f, 0.2f, -3.1f}), own));
}

TEST_CASE("who is checked cannot be foreseen, unless a seed was given") {
  const auto draws = [](std::optional<uint64_t> seed) {
    Trust trust({.check_share = 0.5, .newcomer_checks = 0, .seed = seed});
    std::vector<bool> checked;
    for (int i = 0; i < 200; ++i) checked.push_back(trust.checks("node"));
    return checked;
  };
  CHECK(draws({}) != draws({}));
  CHECK(draws(7) == draws(7));
  CHECK(draws(7) != draws(8));
}

TEST_CASE("newcomers are checked each time, proven nodes in the share that was set") {
  test::WithConvPolicy policy(kSame);
  PoolTrainingOptions options = pool_options(PoolMode::data);
  options.trust.check_share = 0;
  Run run(options, some_nodes(1));
  run.train(10);
  CHECK(run.pool().counts().accepted == 40);
  CHECK(run.pool().counts().checked == 10);
  options.trust.check_share = 0.25;
  Run more(options, some_nodes(1));
  more.train(60);
  CHECK(more.pool().counts().accepted == 240);
  CHECK(more.pool().counts().checked > 10 + 35);
  CHECK(more.pool().counts().checked < 10 + 85);
}

TEST_CASE("results that come twice or late are counted and change nothing") {
  Run run(pool_options(PoolMode::data), some_nodes(3));
  run.train(20);
  CHECK(run.pool().counts().late > 0);
  CHECK(run.pool().counts().accepted == 80);
}

}  // namespace kaiseki::dist
