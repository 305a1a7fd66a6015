// SPDX-License-Identifier: MIT
// Hostile nodes: their results never reach the weights.
#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/dist/train/fixture.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::dist {
namespace {

const TunePolicy kSame = {.mode = TuneMode::off, .deterministic = true};
constexpr PoolMode kModes[] = {PoolMode::data, PoolMode::concurrent_head, PoolMode::border};

}  // namespace

TEST_CASE("a newcomer that sends any wrong result is expelled, and the weights are right") {
  test::WithTunePolicy policy(kSame);
  for (PoolMode mode : kModes) {
    Run honest(pool_options(mode), some_nodes(2));
    const Weights expected = honest.train(6).weights();
    for (Lie lie : {Lie::sign_flipped, Lie::wrong_shape, Lie::wrong_type, Lie::not_finite,
                    Lie::replayed, Lie::noise, Lie::oversized}) {
      CAPTURE(pool_mode_name(mode));
      CAPTURE(static_cast<int>(lie));
      std::vector<LocalNode> nodes = some_nodes(3);
      nodes[1].answer = Liar({.lie = lie, .honest_until = 1});
      Run run(pool_options(mode), nodes);
      CHECK(run.train(6).weights() == expected);
      CHECK(run.nodes->expelled() == std::vector<std::string>{"node1"});
      CHECK(run.pool().counts().expelled == 1);
      CHECK(run.pool().counts().refused == (lie == Lie::sign_flipped || lie == Lie::noise ? 0 : 1));
    }
  }
}

TEST_CASE("a node that sends floats instead of f16 or i8 is expelled") {
  test::WithTunePolicy policy(kSame);
  for (WireType wire : {WireType::f16, WireType::i8})
    for (PoolMode mode : kModes) {
      CAPTURE(pool_mode_name(mode));
      std::vector<LocalNode> nodes = some_nodes(2);
      nodes[1].answer = Liar({.lie = Lie::wrong_type, .honest_until = 1});
      Run honest(pool_options(mode, wire)), run(pool_options(mode, wire), nodes);
      CHECK(run.train(4).weights() == honest.train(4).weights());
      CHECK(run.nodes->expelled() == std::vector<std::string>{"node1"});
      CHECK(run.pool().counts().refused == 1);
    }
}

TEST_CASE("a step in which a node is expelled uses none of its results") {
  test::WithTunePolicy policy(kSame);
  for (PoolMode mode : kModes) {
    CAPTURE(pool_mode_name(mode));
    Run honest(pool_options(mode));
    const Weights expected = honest.train(3).weights();
    PoolTrainingOptions options = pool_options(mode);
    options.trust = {.checks = {.check_share = 0.2, .newcomer_checks = 0}};
    std::vector<LocalNode> nodes = some_nodes(1);
    // The server checks each kind of result 8 times, which is two steps, before it knows its norms.
    const int64_t before = mode == PoolMode::border ? 16 : 8;
    nodes[0].answer = Liar({.lie = Lie::sign_flipped, .honest_until = before});
    int caught = 0, in_the_second_half = 0;
    for (uint64_t seed = 1; seed <= 30; ++seed) {
      options.trust.seed = seed;
      Run run(options, nodes);
      run.train(3);
      if (run.nodes->expelled().empty()) continue;
      ++caught;
      in_the_second_half += run.pool().counts().accepted >= before + 4;
      CHECK(run.weights() == expected);
    }
    CHECK(caught > 5);
    // The gradients of the head already contained its activations.
    if (mode == PoolMode::border) CHECK(in_the_second_half > 1);
  }
}

namespace {

bool agree(const MinibatchPart& part, const TensorMessage& given, const TensorMessage& own) {
  return compare(part, given, own, {}).agree;
}

}  // namespace

TEST_CASE("results agree if each tensor agrees; rounding errors around zero are accepted") {
  const MinibatchPart part{{}, {{"output", {2}, false}, {"g", {2}, true}, {"b", {2}, true}}};
  auto message = [](std::vector<std::vector<float>> values) {
    TensorMessage result;
    for (const auto& one : values)
      result.tensors.push_back(
          {"x", Tensor::from(std::span<const float>(one), {2}, Device::cpu())});
    return result;
  };
  const TensorMessage own = message({{900, -900}, {1e-3f, 2e-3f}, {1e-9f, 0}});
  CHECK(agree(part, own, own));
  CHECK(agree(part, message({{901, -900}, {1.001e-3f, 2e-3f}, {-1e-9f, 2e-9f}}), own));
  CHECK(!agree(part, message({{900, -900}, {-1e-3f, -2e-3f}, {1e-9f, 0}}), own));
  CHECK(!agree(part, message({{900, -900}, {1.05e-3f, 2e-3f}, {1e-9f, 0}}), own));
  CHECK(!agree(part, message({{900, -880}, {1e-3f, 2e-3f}, {1e-9f, 0}}), own));
  CHECK(!agree(part, message({{900, -900}, {1e-3f, 2e-3f}, {1e-5f, 0}}), own));
}

TEST_CASE("i8 values may differ by one step, but not by two") {
  MinibatchPart part{{}, {{"g", {64}, true, WireType::i8}}};
  auto message = [](float first, float others) {  // a step is 0.1
    std::vector<float> values(64, others);
    values[0] = first;
    TensorMessage result;
    result.tensors.push_back(
        {"g", Tensor::from(std::span<const float>(values), {64}, Device::cpu())});
    return result;
  };
  const TensorMessage own = message(12.7f, 0.1f);
  CHECK(agree(part, message(12.6f, 0.2f), own));
  CHECK(compare(part, message(12.6f, 0.2f), own, {}).deviation == 0);
  CHECK(!agree(part, message(12.7f, 0.3f), own));
  CHECK(!agree(part, message(-12.7f, 0.1f), own));
  CHECK(!agree(part, message(NAN, 0.1f), own));
  part.expected[0].type = WireType::f16;
  CHECK(!agree(part, message(12.6f, 0.2f), own));
}

TEST_CASE("a difference in a small gradient is compared with usual gradients") {
  const MinibatchPart part{{}, {{"g", {1}, true}}};
  auto message = [](float value) {
    TensorMessage result;
    result.tensors.push_back(
        {"g", Tensor::from(std::span<const float>(&value, 1), {1}, Device::cpu())});
    return result;
  };
  NormGate gate;
  CHECK(!compare(part, message(0.011f), message(0.01f), gate).agree);
  for (int i = 0; i < 8; ++i) gate.add({{"g", 1, true}});
  const Comparison small = compare(part, message(0.011f), message(0.01f), gate);
  CHECK(small.agree);
  CHECK(small.deviation == doctest::Approx(0.001).epsilon(0.01));
  CHECK(!compare(part, message(0.021f), message(0.01f), gate).agree);
  CHECK(compare(part, message(10.05f), message(10), gate).deviation ==
        doctest::Approx(0.005).epsilon(0.01));
}

TEST_CASE("all results of newcomers are checked, and a share of those of proven nodes") {
  test::WithTunePolicy policy(kSame);
  PoolTrainingOptions options = pool_options(PoolMode::data);
  options.trust.checks.check_share = 0;
  Run run(options, some_nodes(1));
  run.train(10);
  CHECK(run.pool().counts().accepted == 40);
  CHECK(run.pool().counts().checked == 10);
  options.trust.checks.check_share = 0.25;
  Run more(options, some_nodes(1));
  more.train(60);
  CHECK(more.pool().counts().accepted == 240);
  CHECK(more.pool().counts().checked > 10 + 6 * 4 + 30);  // six epochs
  CHECK(more.pool().counts().checked < 10 + 6 * 4 + 100);
}

TEST_CASE("duplicate and late results are counted and change nothing") {
  Run run(pool_options(PoolMode::data), some_nodes(3));
  run.train(20);
  CHECK(run.pool().counts().late > 0);
  CHECK(run.pool().counts().accepted == 80);
}

}  // namespace kaiseki::dist
