// SPDX-License-Identifier: MIT
#include "dist/cluster/hybrid_updater.h"

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dist/cluster/local_ranks.h"
#include "tests/dist/cluster/worst_difference.h"
#include "tests/nn/train/fixture.h"

namespace kaiseki::dist {
namespace {

constexpr const char* kNetwork = R"({"inputs": {"x": {"shape": [1, 4, 5]}}, "layers": [
    {"name": "conv", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 6},
    {"type": "relu"}, {"type": "dropout", "ratio": 0.25},
    {"name": "wide", "type": "fully_connected", "output_size": 9}, {"type": "tanh"},
    {"type": "fully_connected", "output_size": 3}, {"type": "softmax"}]})";
const nn::Schedule kRates{.name = "step", .base = 0.05, .period = 40, .gamma = 0.5};
constexpr int64_t kSamples = 40, kBatch = 8;

struct Sizes {
  int ranks, of_set;
};

struct HybridRun {
  nn::Network network = nn::Network::parse(kNetwork, "test", Device::cpu());
  nn::Optimizer optimizer;
  nn::Iterator iterator;
  explicit HybridRun(const nn::BatchShare& share = {}, const std::string& rule = "momentum")
      : optimizer({.name = rule, .weight_decay = 0.001}),
        iterator(std::make_shared<nn::Patterns>(kSamples),
                 {.batch_size = kBatch, .seed = 4, .workers = 1, .share = share}) {
    network.initialize(9);
  }
  std::vector<std::vector<float>> values() { return nn::all_values(network, optimizer); }
};

}  // namespace

TEST_CASE("hybrid: the training of sets of ranks equals that of one") {
  for (const char* rule : {"momentum", "adam"}) {
    HybridRun alone({}, rule);
    nn::Updater updater(alone.network, alone.optimizer, alone.iterator, kRates);
    nn::Trainer(updater, {.epochs = 3}).run();
    for (const Sizes& sizes : {Sizes{1, 1}, {2, 2}, {4, 2}, {4, 1}, {6, 3}}) {
      CAPTURE(rule);
      CAPTURE(sizes.ranks);
      CAPTURE(sizes.of_set);
      run_local_ranks(sizes.ranks, [&](Communicator& all) {
        Cluster cluster(all.split(0, all.rank()));
        RankSets sets(cluster, sizes.of_set);
        HybridRun run(sets.share(), rule);
        // The weights of rank 0 count.
        if (all.rank() > 0) run.network.parameters()[0].value.mutable_data<float>()[0] = 5;
        HybridUpdater hybrid(run.network, run.optimizer, run.iterator, kRates, sets);
        nn::Trainer trainer(hybrid, {.epochs = 3});
        trainer.run();
        CHECK(worst_difference(alone.values(), run.values()) < 1e-4);  // adam divides
        CHECK(run.optimizer.steps() == 15);
        CHECK(run.network.random_position() == alone.network.random_position());
      });
    }
  }
}

TEST_CASE("hybrid: only the chosen layers are divided") {
  run_local_ranks(2, [&](Communicator& all) {
    Cluster cluster(all.split(0, all.rank()));
    RankSets sets(cluster, 2, std::set<std::string>{"wide"});
    HybridRun run(sets.share());
    HybridUpdater hybrid(run.network, run.optimizer, run.iterator, kRates, sets);
    nn::Trainer(hybrid, {.epochs = 3}).run();
    HybridRun alone;
    nn::Updater updater(alone.network, alone.optimizer, alone.iterator, kRates);
    nn::Trainer(updater, {.epochs = 3}).run();
    CHECK(worst_difference(alone.values(), run.values()) < 1e-5);
  });
}

TEST_CASE("hybrid: ranks that round differently get the weights of rank 0 after an epoch") {
  std::vector<std::vector<std::vector<float>>> values(4);
  run_local_ranks(4, [&](Communicator& all) {
    Cluster cluster(all.split(0, all.rank()));
    RankSets sets(cluster, 2, std::set<std::string>{"wide"});
    HybridRun run(sets.share());
    HybridUpdater hybrid(run.network, run.optimizer, run.iterator, kRates, sets);
    hybrid.update();
    // As if a layer that all ranks compute had another gradient on some of them.
    nn::Parameter& conv = hybrid.part().parameters()[0];
    REQUIRE(conv.name == "conv.weight");
    conv.value.mutable_data<float>()[0] += static_cast<float>(all.rank());
    nn::Trainer(hybrid, {.epochs = 1}).run();
    const nn::Parameter& after = hybrid.part().parameters()[0];
    CHECK(after.value.to_vector() == run.network.parameters()[0].value.to_vector());
    values[static_cast<size_t>(all.rank())] = run.values();
  });
  for (const auto& one : values) CHECK(one == values[0]);
}

TEST_CASE("hybrid: sets with synchronized batch normalization train as one machine") {
  constexpr const char* kNormalized = R"({"inputs": {"x": {"shape": [1, 4, 5]}}, "layers": [
      {"type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 7, "bias": false},
      {"type": "batch_normalization"}, {"type": "relu"},
      {"type": "fully_connected", "output_size": 3}, {"type": "softmax"}]})";
  HybridRun alone;
  alone.network = nn::Network::parse(kNormalized, "test", Device::cpu());
  alone.network.initialize(9);
  nn::Updater updater(alone.network, alone.optimizer, alone.iterator, kRates);
  nn::Trainer(updater, {.epochs = 2}).run();
  run_local_ranks(4, [&](Communicator& all) {
    Cluster cluster(all.split(0, all.rank()));
    RankSets sets(cluster, 2);
    HybridRun run(sets.share());
    run.network = nn::Network::parse(kNormalized, "test", Device::cpu());
    run.network.initialize(9);
    HybridUpdater hybrid(run.network, run.optimizer, run.iterator, kRates, sets,
                         {.sync_batch_norm = true});
    nn::Trainer(hybrid, {.epochs = 2}).run();
    CHECK(worst_difference(alone.values(), run.values()) < 1e-4);  // divisions by small variances
  });
}

TEST_CASE("hybrid: one rank that wants to stop stops all after the same step, with all weights") {
  HybridRun alone;
  nn::Updater updater(alone.network, alone.optimizer, alone.iterator, kRates);
  for (int i = 0; i < 3; ++i) updater.update();
  for (int stopping = 0; stopping < 4; ++stopping) {
    CAPTURE(stopping);
    run_local_ranks(4, [&](Communicator& all) {
      Cluster cluster(all.split(0, all.rank()));
      RankSets sets(cluster, 2);
      HybridRun run(sets.share());
      int step = 0;
      HybridUpdater hybrid(run.network, run.optimizer, run.iterator, kRates, sets,
                           {.stop = [&] { return all.rank() == stopping && step == 2; }});
      for (; !hybrid.stopped() && step < 20; ++step) hybrid.update();
      CHECK(step == 3);
      CHECK(worst_difference(alone.values(), run.values()) < 1e-5);
    });
  }
}

TEST_CASE("hybrid: the constructors refuse wrong sizes, clipping and other shares") {
  run_local_ranks(1, [&](Communicator& all) {
    Cluster cluster(all.split(0, 0));
    CHECK_THROWS_WITH_AS(RankSets(cluster, 2),
                         "[cluster] expected sets of a size that divides the 1 ranks, got 2",
                         Error);
    RankSets sets(cluster, 1);
    HybridRun run(sets.share());
    nn::Optimizer clipping({.clip_norm = 1});
    CHECK_THROWS_AS(HybridUpdater(run.network, clipping, run.iterator, kRates, sets), Error);
    nn::Iterator other(std::make_shared<nn::Patterns>(kSamples),
                       {.batch_size = kBatch, .share = {.index = 1, .parts = 2}});
    CHECK_THROWS_AS(HybridUpdater(run.network, run.optimizer, other, kRates, sets), Error);
  });
}

TEST_CASE("hybrid: ranks of one set with other layers are named") {
  CHECK_THROWS_WITH_AS(
      run_local_ranks(
          2,
          [&](Communicator& all) {
            Cluster cluster(all.split(0, all.rank()));
            RankSets sets(cluster, 2, std::set<std::string>{all.rank() == 0 ? "wide" : "conv"});
            HybridRun run(sets.share());
            HybridUpdater hybrid(run.network, run.optimizer, run.iterator, kRates, sets);
            hybrid.update();
          }),
      doctest::Contains("divided layers: "), Error);
}

TEST_CASE("hybrid: ranks of one set with other data are named") {
  CHECK_THROWS_WITH_AS(
      run_local_ranks(2,
                      [&](Communicator& all) {
                        Cluster cluster(all.split(0, all.rank()));
                        RankSets sets(cluster, 2);
                        HybridRun run(sets.share());
                        nn::Iterator other(std::make_shared<nn::Patterns>(kSamples + all.rank()),
                                           {.batch_size = kBatch, .seed = 4, .workers = 1});
                        HybridUpdater hybrid(run.network, run.optimizer, other, kRates, sets);
                        hybrid.update();
                      }),
      doctest::Contains("samples of data: 40 on rank 0 and 41 on rank 1"), Error);
}

}  // namespace kaiseki::dist
