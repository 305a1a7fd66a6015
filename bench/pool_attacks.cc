// SPDX-License-Identifier: MIT
// pool_attacks NET.json DATA MODE [EPOCHS [SEEDS [AFTER]]]: measures the accuracy of a training
// over a pool with lying nodes, with the defense and without it. The pool is in this process. It
// prints a JSON line for each run.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "dist/train/local_nodes.h"
#include "dist/train/pool_updater.h"
#include "nn/data/dataset.h"
#include "nn/train/diverged.h"
#include "nn/train/evaluator.h"

using namespace kaiseki;

namespace {

struct Case {
  const char* name;
  dist::Attack attack;
  int liars = 1, honest = 2;
};

constexpr dist::TrustOptions kOff = {.check_share = 0, .newcomer_checks = 0, .undo_steps = 0};

/// Each attack starts after 0, 20 and 200 honest results, or only after `only` of them.
std::vector<Case> cases(int64_t only) {
  using enum dist::Lie;
  std::vector<Case> all;
  for (int64_t after : {0, 20, 200}) {
    if (only >= 0 && after != only) continue;
    all.push_back({"times -10", {scaled, -10, after}});
    all.push_back({"times -10000", {scaled, -1e4, after}});
    all.push_back({"times 1000000", {scaled, 1e6, after}});
    all.push_back({"signs flipped", {sign_flipped, 1, after}});
    all.push_back({"labels changed", {label_flipped, 1, after}});
    all.push_back({"drift of 1 %", {drifted, 0.01, after}});
    all.push_back({"drift of 100 %", {drifted, 1, after}});
    all.push_back({"one in fifty times -1000", {scaled, -1e3, after, 50}});
    all.push_back({"one in fifty flipped", {sign_flipped, 1, after, 50}});
    all.push_back({"five flip signs", {sign_flipped, 1, after}, 5, 2});
    all.push_back({"five drift by 1 %", {drifted, 0.01, after}, 5, 2});
  }
  return all;
}

struct Training {
  std::string network, data;
  dist::PoolMode mode;
  int64_t epochs;

  std::shared_ptr<const nn::Dataset> open(bool train) const {
    nn::DataOptions options;
    options.spec = data;
    options.train = train;
    return nn::open_dataset(options);
  }

  /// Prints the result as a JSON line. Returns the accuracy in percent, or 0 if training diverged.
  double run(const Case& one, bool defended, uint64_t seed) const {
    std::vector<dist::LocalNode> with;
    for (int i = 0; i < one.liars + one.honest; ++i) {
      const bool liar = i < one.liars;
      with.push_back({.name = (liar ? "liar" : "node") + std::to_string(i)});
      if (liar) with.back().attack = one.attack;
    }
    dist::LocalNodes nodes(with, seed);
    nn::Network net = nn::Network::load(network, Device::cpu());
    net.initialize(seed);
    nn::Optimizer optimizer;
    nn::Iterator iterator(open(true), {.batch_size = 64, .seed = seed});
    dist::PoolTrainingOptions options;
    options.mode = mode;
    if (!defended) options.trust = kOff;
    options.trust.seed = seed;
    const nn::Schedule schedule{
        .name = "cosine", .base = 0.03, .total = epochs * iterator.batches_per_epoch()};
    dist::PoolUpdater updater(net, optimizer, iterator, schedule, nodes, options);
    double accuracy = 0;
    try {
      while (iterator.epoch() < epochs) updater.update();
      accuracy = 100 * nn::evaluate(net, open(false)).top1;
    } catch (const nn::Diverged&) {
    }
    const dist::GatherCounts& counts = updater.counts();
    std::printf(
        "{\"bench\": \"pool_attacks\", \"mode\": \"%s\", \"attack\": \"%s\", \"after\": %lld, "
        "\"defended\": %s, \"seed\": %llu, \"accuracy\": %.2f, \"expelled\": %lld, "
        "\"steps_undone\": %lld, \"checked\": %.3f}\n",
        std::string(dist::pool_mode_name(mode)).c_str(), one.name,
        static_cast<long long>(one.attack.honest_until), defended ? "true" : "false",
        static_cast<unsigned long long>(seed), accuracy, static_cast<long long>(counts.expelled),
        static_cast<long long>(counts.undone),
        static_cast<double>(counts.checked) /
            static_cast<double>(counts.accepted + counts.expelled));
    std::fflush(stdout);
    return accuracy;
  }
};

}  // namespace

int main(int count, char** arguments) try {
  if (count < 4 || count > 7)
    throw Error("usage: pool_attacks NET.json DATA MODE [EPOCHS [SEEDS [AFTER]]]");
  const Training training{arguments[1], arguments[2], dist::parse_pool_mode(arguments[3]),
                          count > 4 ? std::atoll(arguments[4]) : 1};
  const auto seeds = static_cast<uint64_t>(count > 5 ? std::atoll(arguments[5]) : 1);
  const int64_t only = count > 6 ? std::atoll(arguments[6]) : -1;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const double clean = training.run({"none", {}, 0, 3}, true, seed);
    for (const Case& one : cases(only)) {
      const double with = training.run(one, true, seed), without = training.run(one, false, seed);
      std::printf("%-26s after %3lld: %+.2f points with the defense, %+.2f without\n", one.name,
                  static_cast<long long>(one.attack.honest_until), with - clean, without - clean);
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
