// SPDX-License-Identifier: MIT
// The paper's networks over a pool: bytes of a step, and accuracy.
#include <doctest/doctest.h>

#include "nn/train/evaluator.h"
#include "tests/dist/train/fixture.h"
#include "tests/dist/train/noise.h"
#include "tests/support/source_dir.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::dist {
namespace {

const TunePolicy kSame = {.mode = TuneMode::off, .deterministic = true};

std::string file_of(const std::string& name) {
  return test::source_dir() + "/models/" + name + ".json";
}

/// Bytes of one step, without samples.
struct Moved {
  double down, up;
};
Moved one_step(const std::string& name, int64_t batch, int64_t ticket, int nodes, PoolMode mode,
               WireType wire) {
  nn::Network network = nn::Network::load(file_of(name), Device::cpu());
  nn::Optimizer optimizer;
  const auto classes = static_cast<int>(network.output_shape().elements());
  nn::Iterator iterator(std::make_shared<test::Noise>(network.input_shape(), 1024, classes),
                        {.batch_size = batch, .workers = 1});
  LocalNodes pool(some_nodes(nodes), 1);
  PoolTrainingOptions options = pool_options(mode, wire);
  options.ticket_samples = ticket;
  options.trust = {.checks = {.check_share = 0, .newcomer_checks = 0}};
  PoolUpdater updater(network, optimizer, iterator, {.base = 0.001}, pool, options);
  updater.update();
  const LocalBytes& bytes = pool.bytes();
  return {static_cast<double>(bytes.weights + bytes.tickets), static_cast<double>(bytes.results)};
}

double accuracy(const std::optional<PoolTrainingOptions>& options,
                const std::vector<LocalNode>& nodes) {
  nn::Network network = nn::Network::load(file_of("lenet"), Device::cpu());
  network.initialize(1);
  nn::Optimizer optimizer;
  nn::Iterator iterator(nn::open_dataset({.spec = "digits:4000"}), {.batch_size = 64, .seed = 1});
  LocalNodes pool(nodes, 1);
  const nn::Schedule schedule{.base = 0.02};
  std::unique_ptr<nn::Updater> updater;
  if (options)
    updater = std::make_unique<PoolUpdater>(network, optimizer, iterator, schedule, pool, *options);
  else
    updater = std::make_unique<nn::Updater>(network, optimizer, iterator, schedule);
  while (iterator.epoch() < 2) updater->update();
  return nn::evaluate(network, nn::open_dataset({.spec = "digits:5000", .train = false})).top1;
}

}  // namespace

TEST_CASE("bytes of a step of LeNet and of the CIFAR net are within 10 % of the table") {
  struct Row {
    const char* network;
    PoolMode mode;
    WireType wire;
    double down, up;
  };
  for (const Row& row : {Row{"lenet", PoolMode::data, WireType::f32, 1.724e6, 1.724e6},
                         Row{"lenet", PoolMode::concurrent_head, WireType::f32, 1.724e6, 102e3},
                         Row{"lenet", PoolMode::border, WireType::i8, 154e3, 128e3},
                         Row{"cifar", PoolMode::data, WireType::f32, 89.9e3, 89.9e3},
                         Row{"cifar", PoolMode::concurrent_head, WireType::f32, 89.9e3, 77.0e3},
                         Row{"cifar", PoolMode::border, WireType::i8, 79.5e3, 60.5e3}}) {
    CAPTURE(row.network);
    CAPTURE(pool_mode_name(row.mode));
    const Moved moved = one_step(row.network, 64, 64, 1, row.mode, row.wire);
    CHECK(moved.down == doctest::Approx(row.down).epsilon(0.1));
    CHECK(moved.up == doctest::Approx(row.up).epsilon(0.1));
  }
}

TEST_CASE("LeNet over a pool reaches the accuracy of one machine within half a percent") {
  test::WithTunePolicy policy(kSame);
  const double alone = accuracy({}, {});
  MESSAGE("one machine: ", alone);
  CHECK(alone > 0.9);
  for (PoolMode mode : {PoolMode::data, PoolMode::concurrent_head, PoolMode::border}) {
    CAPTURE(pool_mode_name(mode));
    PoolTrainingOptions options = pool_options(mode, WireType::f16);
    options.ticket_samples = 32;
    const double found = accuracy(options, some_nodes(2));
    MESSAGE(pool_mode_name(mode), ": ", found);
    CHECK(std::fabs(found - alone) <= 0.005);
  }
}

}  // namespace kaiseki::dist
