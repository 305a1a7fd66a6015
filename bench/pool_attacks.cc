// SPDX-License-Identifier: MIT
// pool_attacks NET.json DATA MODE [SAMPLES [AFTER]]: measures the effect of lying nodes on the
// accuracy of training, with the defense and without it. The pool is in this process.
// Trains one epoch, of the first SAMPLES samples if given. Prints a JSON line for each run.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dist/train/local_nodes.h"
#include "dist/train/pool_updater.h"
#include "nn/data/dataset.h"
#include "nn/train/diverged.h"
#include "nn/train/evaluator.h"
#include "tests/support/lie.h"

using namespace kaiseki;

namespace {

struct Case {
  std::string name;
  test::Attack attack;
  int liars = 1, honest = 2;
  int64_t interval = 0;  // tickets between the joins of two liars
};

constexpr dist::TrustOptions kOff = {.checks = {.check_share = 0, .newcomer_checks = 0},
                                     .undo_steps = 0};
constexpr int64_t kOnce = int64_t{1} << 40;

std::vector<Case> cases(int64_t after) {
  using enum test::Lie;
  std::vector<Case> all = {
      {"times -10", {scaled, -10, after}},
      {"times -10000", {scaled, -1e4, after}},
      {"times 1000000", {scaled, 1e6, after}},
      {"signs flipped", {sign_flipped, 1, after}},
      {"labels exchanged", {label_flipped, 1, after}},
      {"drift of 1 %", {drifted, 0.0099, after}},
      {"drift of 100 %", {drifted, 1, after}},
      {"one in fifty times -1000", {scaled, -1e3, after, 50}},
      {"one in fifty flipped", {sign_flipped, 1, after, 50}},
      {"five of seven flip signs", {sign_flipped, 1, after}, 5, 2},
      {"five of seven drift by 1 %", {drifted, 0.0099, after}, 5, 2},
      {"five of seven drift by 0.1 %", {drifted, 0.001, after}, 5, 2},
  };
  for (int factor : {3, 10, 30, 60})
    all.push_back({"each of 40 newcomers once times -" + std::to_string(factor),
                   {scaled, -double(factor), after, kOnce},
                   40,
                   2,
                   20});
  return all;
}

/// The first samples of a data set.
class First : public nn::Dataset {
 public:
  First(std::shared_ptr<const nn::Dataset> all, int64_t size)
      : all_(std::move(all)), size_(size > 0 ? std::min(size, all_->size()) : all_->size()) {}
  int64_t size() const override { return size_; }
  Shape sample_shape() const override { return all_->sample_shape(); }
  int classes() const override { return all_->classes(); }
  std::vector<std::string> class_names() const override { return all_->class_names(); }
  nn::Normalization normalization() const override { return all_->normalization(); }
  void read(int64_t index, uint8_t* out, int32_t& label, Random& random) const override {
    all_->read(index, out, label, random);
  }
  std::optional<nn::SampleFile> file(int64_t index, Random& random) const override {
    return all_->file(index, random);
  }

 private:
  std::shared_ptr<const nn::Dataset> all_;
  int64_t size_;
};

struct Training {
  std::string network, data;
  dist::PoolMode mode;
  int64_t samples;

  std::shared_ptr<const nn::Dataset> open(bool train) const {
    nn::DataOptions options;
    options.spec = data;
    options.train = train;
    return nn::open_dataset(options);
  }

  /// Prints the result as a JSON line. Returns the accuracy in percent, or 0 if training diverged.
  double run(const Case& one, bool defended) const {
    constexpr uint64_t seed = 1;
    std::vector<dist::LocalNode> with;
    for (int i = 0; i < one.liars + one.honest; ++i) {
      const bool liar = i < one.liars;
      with.push_back({.name = (liar ? "liar" : "node") + std::to_string(i)});
      if (!liar) continue;
      with.back().answer = test::Liar(one.attack);
      with.back().joins_at = one.interval * i;
    }
    dist::LocalNodes nodes(with, seed);
    nn::Network net = nn::Network::load(network, Device::cpu());
    net.initialize(seed);
    nn::Optimizer optimizer;
    nn::Iterator iterator(std::make_shared<First>(open(true), samples),
                          {.batch_size = 64, .seed = seed});
    dist::PoolTrainingOptions options;
    options.mode = mode;
    options.ticket_samples = 8;
    if (!defended) options.trust = kOff;
    options.trust.seed = seed;
    const nn::Schedule schedule{.name = "cosine", .base = 0.03, .total = iterator.dataset().size()};
    dist::PoolUpdater updater(net, optimizer, iterator, schedule, nodes, options);
    double accuracy = 0;
    try {
      while (iterator.epoch() < 1) updater.update();
      accuracy = 100 * nn::evaluate(net, open(false)).top1;
    } catch (const nn::Diverged&) {
    }
    const dist::GatherCounts& counts = updater.counts();
    std::printf(
        "{\"bench\": \"pool_attacks\", \"mode\": \"%s\", \"attack\": \"%s\", \"after\": %lld, "
        "\"defended\": %s, \"accuracy\": %.2f, \"expelled\": %lld, "
        "\"steps_undone\": %lld, \"checked\": %.3f}\n",
        std::string(dist::pool_mode_name(mode)).c_str(), one.name.c_str(),
        static_cast<long long>(one.attack.honest_until), defended ? "true" : "false", accuracy,
        static_cast<long long>(counts.expelled), static_cast<long long>(counts.undone),
        static_cast<double>(counts.checked) /
            static_cast<double>(counts.accepted + counts.expelled));
    std::fflush(stdout);
    return accuracy;
  }
};

}  // namespace

int main(int count, char** arguments) try {
  if (count < 4 || count > 6)
    throw Error("usage: pool_attacks NET.json DATA MODE [SAMPLES [AFTER]]");
  const Training training{arguments[1], arguments[2], dist::parse_pool_mode(arguments[3]),
                          count > 4 ? std::atoll(arguments[4]) : 0};
  std::vector<int64_t> after = {20, 200, 0};
  if (count > 5) after = {std::atoll(arguments[5])};
  const double clean = training.run({"none", {}, 0, 3}, true);
  for (const int64_t honest : after)
    for (const Case& one : cases(honest)) {
      std::printf("%-40s after %3lld: %+.2f points with the defense\n", one.name.c_str(),
                  static_cast<long long>(honest), training.run(one, true) - clean);
      std::fflush(stdout);
      if (honest != after.front()) continue;
      std::printf("%-40s after %3lld: %+.2f points without it\n", one.name.c_str(),
                  static_cast<long long>(honest), training.run(one, false) - clean);
    }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
