// SPDX-License-Identifier: MIT
// The automatic size of a minibatch, on simulated devices and in a training.
#include "nn/train/minibatch_size.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <utility>

#include "base/log.h"
#include "matrix/memory/workspace.h"
#include "nn/train/checkpoint.h"
#include "tests/nn/train/fixture.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::nn {
namespace {

/// A device whose times and use are given functions of the size, with noise.
class SimulatedTrials : public MinibatchTrials {
 public:
  using Function = std::function<double(double)>;
  SimulatedTrials(Function seconds, Function use, double noise, uint64_t seed = 3,
                  int64_t fits = 1 << 20)
      : seconds_(std::move(seconds)),
        use_(std::move(use)),
        noise_(noise),
        fits_(fits),
        random_(seed) {}

  std::optional<Trial> run(int64_t size, int iterations) override {
    ++runs;
    CHECK(iterations >= 1);
    CHECK(size >= 1);
    largest = std::max(largest, size);
    if (size > fits_) return std::nullopt;
    const auto b = static_cast<double>(size);
    const double factor = 1 + noise_ * (2 * random_.uniform() - 1);
    return Trial{seconds_(b) * factor, std::min(1.0, use_(b) * factor)};
  }
  int64_t samples() const override { return 60000; }

  int runs = 0;
  int64_t largest = 0;

 private:
  Function seconds_, use_;
  double noise_;
  int64_t fits_;
  Random random_;
};

double linear(double b) { return 0.004 + 0.0001 * b; }
double saturating(double b) { return b / (b + 0.6); }
double epoch_time(const std::function<double(double)>& seconds, int64_t size) {
  return seconds(static_cast<double>(size)) * std::ceil(60000.0 / static_cast<double>(size));
}

/// The shortest epoch of a sweep over 12 sizes.
double best_of_sweep(const std::function<double(double)>& seconds, int64_t largest = 256) {
  double best = 1e30;
  for (int64_t size : {1, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256})
    if (size <= largest) best = std::min(best, epoch_time(seconds, size));
  return best;
}

}  // namespace

TEST_CASE("minibatch size: a linear time needs three trials and is near the best of a sweep") {
  FitEpochTime strategy;
  SimulatedTrials trials(linear, saturating, 0);
  const int64_t size = strategy.choose(trials, 64);
  CHECK(trials.runs == 3);  // 16, 64 and 256
  CHECK(epoch_time(linear, size) <= 1.031 * best_of_sweep(linear));
  CHECK(epoch_time(linear, size / 2) > 1.03 * best_of_sweep(linear));
  CHECK(trials.largest == 256);
}

TEST_CASE("minibatch size: noise of 2 % costs at most 3 % more than without noise") {
  for (int64_t start : {4, 16, 64})
    for (uint64_t seed = 0; seed < 20; ++seed) {
      FitEpochTime strategy;
      SimulatedTrials trials(linear, saturating, 0.02, seed);
      const int64_t size = strategy.choose(trials, start);
      CAPTURE(start);
      CAPTURE(seed);
      CAPTURE(size);
      CHECK(trials.runs <= 6);
      CHECK(size >= start / 4);
      CHECK(size <= 4 * start);
      CHECK(epoch_time(linear, size) <= 1.06 * best_of_sweep(linear, 4 * start));
    }
}

TEST_CASE("minibatch size: a device that is slower with large sizes") {
  // Above 128 samples the activations leave the cache.
  const auto seconds = [](double b) { return 0.001 + 0.0001 * b + (b > 128 ? 0.0001 * b : 0); };
  FitEpochTime strategy;
  SimulatedTrials trials(seconds, saturating, 0);
  const int64_t size = strategy.choose(trials, 64);
  CHECK(trials.runs <= 6);
  CHECK(epoch_time(seconds, size) <= 1.1 * best_of_sweep(seconds));
}

TEST_CASE("minibatch size: without a fixed time, the smallest size is a quarter of the start") {
  const auto seconds = [](double b) { return 0.0001 * b; };
  FitEpochTime strategy;
  SimulatedTrials trials(seconds, saturating, 0);
  CHECK(strategy.choose(trials, 64) == 16);
}

TEST_CASE("minibatch size: sizes that do not fit the memory are not chosen") {
  const auto curved = [](double b) { return 0.001 + 0.0001 * b + 0.00001 * b * std::sqrt(b); };
  for (int64_t fits : {1, 5, 40, 70, 100, 130, 300}) {
    CAPTURE(fits);
    FitEpochTime strategy;
    SimulatedTrials trials(curved, saturating, 0, 3, fits);
    CHECK(strategy.choose(trials, 64) <= fits);
    CHECK(trials.runs <= 6 + 7);  // seven times a half of 64
    EpochTimeMinimize time;
    SimulatedTrials again(linear, saturating, 0, 3, fits);
    CHECK(time.choose(again, 64) <= fits);
    CHECK(time.rounds() <= 100);
    UsageMaximize usage;
    SimulatedTrials third(
        linear, [](double b) { return b / (b + 5); }, 0, 3, fits);
    CHECK(usage.choose(third, 64) <= fits);
    CHECK(usage.rounds() <= 100);
  }
  SimulatedTrials none(linear, saturating, 0, 3, 0);
  CHECK_THROWS_WITH_AS(FitEpochTime().choose(none, 64), doctest::Contains("memory for one sample"),
                       Error);
  CHECK_THROWS_AS(EpochTimeMinimize().choose(none, 64), Error);
  CHECK_THROWS_AS(UsageMaximize().choose(none, 64), Error);
}

TEST_CASE("minibatch size: UsageMaximize needs a device that measures its use") {
  class Unmeasured : public MinibatchTrials {
    std::optional<Trial> run(int64_t, int) override { return Trial{.seconds = 1}; }
    int64_t samples() const override { return 100; }
  };
  Unmeasured trials;
  CHECK_THROWS_WITH_AS(UsageMaximize().choose(trials, 8), doctest::Contains("BusyTimeMeasurement"),
                       Error);
}

TEST_CASE("minibatch size: the paper's strategies give its sizes in its rounds") {
  // The paper's table 3: VGG-16 and ResNet-50 on CIFAR-100, then on ImageNet. A use of 99 % is
  // reached above `busy` samples. The first use is that of table 4.
  struct Case {
    double busy, first_use;
    int rounds;
    int64_t size;
  };
  for (const Case& paper : {Case{55, 0.73, 10, 54},
                            {70, 0.5571, 15, 70},
                            {46, 0.9096, 10, 46},
                            {116, 0.6308, 20, 116}}) {
    CAPTURE(paper.busy);
    const auto use = [&](double b) {
      return paper.first_use + (0.99 - paper.first_use) * (b - 32) / (paper.busy - 32);
    };
    UsageMaximize strategy;
    SimulatedTrials exact(linear, use, 0);
    CHECK(std::abs(strategy.choose(exact, 32) - paper.size) <= 1);
    CHECK(strategy.rounds() == paper.rounds);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      CAPTURE(seed);
      SimulatedTrials noisy(linear, use, 0.002, seed);
      const int64_t size = strategy.choose(noisy, 32);
      CHECK(std::abs(static_cast<double>(size) - paper.busy) <= 5);
      CHECK(strategy.rounds() <= paper.rounds + 5);  // a check later
    }
  }
}

TEST_CASE("minibatch size: the paper's EpochTimeMinimize converges on a device with noise") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    EpochTimeMinimize strategy;
    SimulatedTrials device(linear, saturating, 0.02, seed);
    const int64_t size = strategy.choose(device, 32);
    CHECK(strategy.rounds() <= 20);
    // Four more rounds would change the time of an epoch by at most the tolerance, and the noise.
    CHECK(size > 32);
    CHECK(epoch_time(linear, size) - epoch_time(linear, size + 4 * strategy.rounds()) <=
          0.1 * epoch_time(linear, 32));
  }
}

TEST_CASE("minibatch size: trials leave no trace in a run") {
  for (const char* rule : {"momentum", "sgd", "adam"}) {
    CAPTURE(rule);
    TrainingRun with(2, rule), without(2, rule);
    for (int step = 0; step < 5; ++step) with.updater.update(), without.updater.update();
    {
      UpdaterTrials trials(with.updater);
      CHECK_NOTHROW(trials.restore());  // before the first trial
      for (int64_t size : {1, 16, 50, 8}) {
        const auto trial = trials.run(size, 2);
        REQUIRE(trial);
        CHECK(trial->seconds > 0);
        REQUIRE(trial->use);
        CHECK(*trial->use >= 0);
        CHECK(*trial->use <= 1);
      }
      trials.restore();
      CHECK(with.updater.step() == 5);
      trials.run(16, 1);  // then the destructor restores it
    }
    CHECK(with.iterator.state() == without.iterator.state());
    CHECK(with.iterator.batch_size() == 8);
    CHECK(with.updater.step() == 5);
    CHECK(with.values() == without.values());
    for (int step = 0; step < 9; ++step) {
      const float a = with.updater.update().loss.item(), b = without.updater.update().loss.item();
      CHECK(a == b);
    }
    CHECK(with.values() == without.values());
  }
}

TEST_CASE("minibatch size: a run equals one of the same size without trials, bit for bit") {
  /// Tries sizes and chooses 12.
  class Tries : public MinibatchStrategy {
    int64_t choose(MinibatchTrials& trials, int64_t start) override {
      CHECK(start == 8);
      for (int64_t size : {50, 3, 24}) CHECK(trials.run(size, 2));
      return 12;
    }
  };
  for (const std::string rule : {"momentum", "nesterov", "sgd", "adam"}) {
    CAPTURE(rule);
    TrainingRun with(3, rule.c_str()), without(3, rule.c_str());
    with.trainer.extend(std::make_unique<MinibatchSizeOptimizer>(
        std::make_unique<Tries>(), MinibatchSizeOptions{.scaling = RateScaling::none}));
    without.iterator.set_batch_size(12);
    with.trainer.run();
    without.trainer.run();
    CHECK(with.values() == without.values());
    CHECK(with.iterator.state() == without.iterator.state());
    CHECK(with.network.random_position() == without.network.random_position());
    CHECK(with.updater.step() == 15);
    CHECK(without.updater.step() == 15);
    CHECK(with.updater.learning_rate() == without.updater.learning_rate());
    CHECK(with.trainer.epoch_totals().loss_sum == without.trainer.epoch_totals().loss_sum);
  }
}

TEST_CASE("minibatch size: a run that cannot be restored does not train on") {
  /// Tries a size. Then the run cannot be restored. Ends with an exception of a type, or with none.
  class Breaks : public MinibatchStrategy {
   public:
    Breaks(std::shared_ptr<FailingPatterns> data, int64_t failures, int ending)
        : data_(std::move(data)), failures_(failures), ending_(ending) {}
    int64_t choose(MinibatchTrials& trials, int64_t start) override {
      CHECK(trials.run(start, 2));
      data_->first_failure = data_->calls + 1;
      data_->failures = failures_;
      if (ending_ == 1) throw OutOfMemory("the test", {});
      if (ending_ == 2) throw NoSizeFits("no size fits");
      if (ending_ == 3) throw TrialsStopped("stopped");
      return start;
    }

   private:
    std::shared_ptr<FailingPatterns> data_;
    int64_t failures_;
    int ending_;
  };
  std::string said;
  set_log_sink([&](LogLevel, std::string_view text) { said += text; });
  for (int ending : {0, 1, 2, 3})
    for (int64_t failures : {1, 1000}) {
      CAPTURE(ending);
      CAPTURE(failures);
      auto data = std::make_shared<FailingPatterns>(50);
      TrainingRun run(2, "momentum", 0.05, data);
      run.trainer.extend(std::make_unique<MinibatchSizeOptimizer>(
          std::make_unique<Breaks>(data, failures, ending)));
      CHECK_THROWS_WITH_AS(run.trainer.run(), doctest::Contains("could not be restored"),
                           RunNotRestored);
      data->failures = 0;
      if (failures == 1 && ending == 0) {  // the destructor has restored it after all
        CHECK_NOTHROW(run.updater.update());
        CHECK(run.updater.step() == 1);
        continue;
      }
      CHECK_THROWS_AS(run.updater.update(), RunNotRestored);
      CHECK_THROWS_AS(run.trainer.run(), RunNotRestored);
      CHECK_THROWS_AS(run.trainer.state(), RunNotRestored);
      CHECK_THROWS_AS(UpdaterTrials(run.updater), RunNotRestored);
    }
  set_log_sink({});
  CHECK(said.find("could not be restored") != std::string::npos);
}

TEST_CASE("minibatch size: a checkpoint mends a run that could not be restored") {
  TestFolder folder("mended");
  const std::string file = folder.path / "run.safetensors";
  auto data = std::make_shared<FailingPatterns>(50);
  TrainingRun whole(2), run(2, "momentum", 0.05, data);
  for (int step = 0; step < 3; ++step) whole.updater.update();
  write_checkpoint(file, whole.trainer);
  UpdaterTrials trials(run.updater);
  CHECK(trials.run(16, 1));
  data->first_failure = data->calls + 1;
  data->failures = 1;
  CHECK_THROWS_AS(trials.restore(), RunNotRestored);
  read_checkpoint(file, run.trainer);
  run.iterator.set_batch_size(8);
  CHECK(run.updater.update().loss.item() == whole.updater.update().loss.item());
  CHECK(run.values() == whole.values());
}

TEST_CASE("minibatch size: trials of a convolution leave the workspace as it was") {
  const Network small = Network::parse(R"({"inputs": {"x": {"shape": [1, 4, 5]}}, "layers": [
      {"type": "convolution", "output_channels": 8, "kernel_size": 3, "padding": 1}, {"type": "relu"},
      {"type": "fully_connected", "output_size": 3}, {"type": "softmax"}]})",
                                       "test");
  const auto run = [&](bool tries) {
    Network network = Network::parse(small.json(), "test");
    network.initialize(9);
    Optimizer optimizer;
    Iterator iterator(std::make_shared<Patterns>(50), {.batch_size = 8, .seed = 4});
    Updater updater(network, optimizer, iterator, Schedule{.base = 0.05}, 2);
    if (tries) {
      Workspace& workspace = network.device().workspace();
      const uint64_t before = workspace.size();
      {
        UpdaterTrials trials(updater);
        CHECK(trials.run(32, 2)->seconds > 0);  // two of them are more than an epoch
      }
      CHECK(workspace.size() == before);
    }
    std::vector<float> losses;
    for (int step = 0; step < 5; ++step) losses.push_back(updater.update().loss.item());
    return losses;
  };
  const test::WithTunePolicy deterministic({.mode = TuneMode::off, .deterministic = true});
  CHECK(run(true) == run(false));
}

TEST_CASE("minibatch size: the user can stop the trials") {
  TrainingRun run(1);
  int calls = 0;
  run.trainer.extend(std::make_unique<MinibatchSizeOptimizer>(
      std::make_unique<FitEpochTime>(),
      MinibatchSizeOptions{.stopped = [&] { return ++calls == 3; }}));
  run.trainer.run();
  CHECK(calls == 3);
  CHECK(run.updater.step() == 0);
  CHECK(run.trainer.stop_reason() == "interrupted");
  CHECK(run.iterator.batch_size() == 8);
}

TEST_CASE("minibatch size: the extension sets the size and the rate, and a checkpoint keeps both") {
  /// Always this size.
  class Fixed : public MinibatchStrategy {
    int64_t choose(MinibatchTrials& trials, int64_t) override {
      CHECK(trials.samples() == 50);
      return 32;
    }
  };
  class Never : public MinibatchStrategy {
    int64_t choose(MinibatchTrials&, int64_t) override { throw Error("it chooses again"); }
  };
  class StopsAtOnce : public Extension {
    void on_step(Trainer& trainer) override { trainer.stop("the test"); }
  };
  CHECK_THROWS_AS(MinibatchSizeOptimizer(nullptr), Error);
  for (const auto& [scaling, factor] : {std::pair(RateScaling::none, 1.0),
                                        {RateScaling::square_root, 2.0},
                                        {RateScaling::linear, 4.0}}) {
    const double rate = factor * 0.05;
    const MinibatchSizeOptions options{.scaling = scaling};
    TestFolder folder("minibatch");
    const std::string file = folder.path / "run.safetensors";
    TrainingRun run(1);
    run.trainer.extend(
        std::make_unique<MinibatchSizeOptimizer>(std::make_unique<Fixed>(), options));
    run.trainer.run();
    CHECK(run.updater.step() == 2);  // 32 and 18
    CHECK(run.updater.learning_rate() == doctest::Approx(rate));
    write_checkpoint(file, run.trainer);
    TrainingRun again(2), plain(2), done(0);
    again.trainer.extend(
        std::make_unique<MinibatchSizeOptimizer>(std::make_unique<Never>(), options));
    read_checkpoint(file, again.trainer);
    again.trainer.run();
    CHECK(again.iterator.batch_size() == 32);
    CHECK(again.updater.step() == 4);
    CHECK(again.updater.learning_rate() == doctest::Approx(rate));
    // A checkpoint within the first epoch keeps the rise of the rate.
    TrainingRun half(1), rest(1);
    half.trainer.extend(
        std::make_unique<MinibatchSizeOptimizer>(std::make_unique<Fixed>(), options));
    rest.trainer.extend(
        std::make_unique<MinibatchSizeOptimizer>(std::make_unique<Never>(), options));
    half.trainer.extend(std::make_unique<StopsAtOnce>());
    half.trainer.run();
    CHECK(half.updater.learning_rate_scale() == doctest::Approx(std::lerp(1, factor, 32.0 / 50)));
    const std::string middle = folder.path / "middle.safetensors";
    write_checkpoint(middle, half.trainer);
    read_checkpoint(middle, rest.trainer);
    rest.trainer.run();
    CHECK(rest.updater.step() == 2);
    CHECK(rest.updater.learning_rate() == doctest::Approx(rate));
    // Without the extension, the size is this run's, and the rate stays.
    read_checkpoint(file, plain.trainer);
    plain.trainer.run();
    CHECK(plain.iterator.batch_size() == 8);
    CHECK(plain.updater.learning_rate() == doctest::Approx(rate));
    // Without an epoch to train, nothing is tried.
    done.trainer.extend(std::make_unique<MinibatchSizeOptimizer>(std::make_unique<Never>()));
    CHECK_NOTHROW(done.trainer.run());
  }
}

}  // namespace kaiseki::nn
