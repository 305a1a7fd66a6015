// SPDX-License-Identifier: MIT
// The noise scale of gradients, and the size of a minibatch that it limits.
#include <doctest/doctest.h>

#include "base/error.h"
#include "base/log.h"
#include "nn/train/checkpoint.h"
#include "nn/train/minibatch_size.h"
#include "nn/train/noise_cap.h"
#include "tests/nn/train/fixture.h"

namespace kaiseki::nn {
namespace {

double norm_of(const std::vector<double>& vector) {
  double sum = 0;
  for (double one : vector) sum += one * one;
  return sum;
}

/// tr(Sigma) / |G|^2 of vectors, one for each sample.
double exact_scale(const std::vector<std::vector<double>>& gradients) {
  std::vector<double> mean(gradients[0].size());
  double squares = 0;
  const auto count = static_cast<double>(gradients.size());
  for (const std::vector<double>& one : gradients) {
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += one[i] / count;
    squares += norm_of(one) / count;
  }
  return (squares - norm_of(mean)) / norm_of(mean);
}

/// Chooses this size without trials.
class FixedSize : public MinibatchStrategy {
 public:
  explicit FixedSize(int64_t size) : size_(size) {}
  int64_t choose(MinibatchTrials&, int64_t) override { return size_; }

 private:
  int64_t size_;
};

NoiseCap& add_cap(Trainer& trainer, int64_t largest,
                  RateScaling scaling = RateScaling::square_root) {
  const int64_t given = trainer.updater().iterator().batch_size();
  trainer.extend(std::make_unique<MinibatchSizeOptimizer>(std::make_unique<FixedSize>(largest)));
  return static_cast<NoiseCap&>(trainer.extend(std::make_unique<NoiseCap>(given, scaling)));
}

/// The size and the rate of each step, from the first on.
class SizesAndRates : public Extension {
 public:
  void on_start(Trainer& trainer) override { add(trainer); }
  void on_step(Trainer& trainer) override { add(trainer); }
  std::vector<int64_t> sizes;
  std::vector<double> rates;

 private:
  void add(Trainer& trainer) {
    sizes.push_back(trainer.updater().iterator().batch_size());
    rates.push_back(trainer.updater().learning_rate_scale());
  }
};

}  // namespace

TEST_CASE("noise scale: the expected norms give the exact value") {
  // E |g|^2 = |G|^2 + tr(Sigma) / b
  NoiseScale scale;
  CHECK(!scale.value());
  scale.add({.small = 4, .large = 32, .small_norm = 2 + 50. / 4, .large_norm = 2 + 50. / 32});
  CHECK(*scale.value() == doctest::Approx(25));
  NoiseScale none;  // no noise
  none.add({.small = 1, .large = 8, .small_norm = 3, .large_norm = 3});
  CHECK(*none.value() == 0);
  NoiseScale hidden;  // the mean gradient cannot be seen
  hidden.add({.small = 1, .large = 8, .small_norm = 8, .large_norm = 0.9});
  CHECK(!hidden.value());
}

TEST_CASE("noise scale: a linear model with noise of a known covariance") {
  // The gradient of a sample is G + e. The covariance of e is diagonal.
  Random random(5);
  std::vector<double> mean, deviation;
  double variance = 0;
  for (int i = 0; i < 20; ++i) {
    mean.push_back(0.1 * random.normal());
    deviation.push_back(0.2 + random.uniform());
    variance += deviation.back() * deviation.back();
  }
  const double exact = variance / norm_of(mean);
  NoiseScale scale;
  for (int step = 0; step < 4000; ++step) {
    const auto add_samples = [&](std::vector<double> sum, int samples) {
      for (int k = 0; k < samples; ++k)
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += mean[i] + deviation[i] * random.normal();
      return sum;
    };
    const std::vector<double> small = add_samples(std::vector<double>(20), 8);
    const std::vector<double> large = add_samples(small, 56);
    scale.add({.small = 8,
               .large = 64,
               .small_norm = norm_of(small) / (8 * 8),
               .large_norm = norm_of(large) / (64 * 64)});
  }
  CHECK(*scale.value() == doctest::Approx(exact).epsilon(0.05));
}

TEST_CASE("noise scale: a network's estimate equals that of all samples' gradients") {
  auto data = std::make_shared<Patterns>(600, false);
  Network network = Network::parse(R"({"inputs": {"x": {"shape": [1, 4, 5]}}, "layers": [
      {"type": "fully_connected", "output_size": 3}, {"type": "softmax"}]})",
                                   "test");
  network.initialize(3);
  Optimizer optimizer;
  Iterator iterator(data, {.batch_size = 1});
  Updater updater(network, optimizer, iterator, Schedule{});
  std::vector<std::vector<double>> gradients;
  Batch batch;
  for (int64_t i = 0; i < data->size(); ++i) {
    iterator.next(batch);
    network.zero_grad();
    network.forward_loss(batch.inputs(Device::cpu()), batch.labels);
    network.backward();
    std::vector<double>& all = gradients.emplace_back();
    for (const Tensor& one : network.gradients().values)
      for (float value : one.to_vector()) all.push_back(value);
  }
  NoiseScale scale;
  iterator.set_batch_size(60);
  while (iterator.epoch() < 100) {
    const GradientNorms norms = measure_gradient_norms(updater);
    CHECK(norms.small == 7);
    CHECK(norms.large == 56);
    scale.add(norms);
    iterator.next(batch);
  }
  CHECK(*scale.value() == doctest::Approx(exact_scale(gradients)).epsilon(0.1));
}

TEST_CASE("noise scale: measuring leaves no trace in a run") {
  for (const char* rule : {"momentum", "sgd", "adam"}) {
    CAPTURE(std::string(rule));
    TrainingRun with(2, rule), without(2, rule);
    for (int step = 0; step < 9; ++step) {
      if (step % 3 == 1) CHECK(measure_gradient_norms(with.updater).small_norm > 0);
      const float a = with.updater.update().loss.item(), b = without.updater.update().loss.item();
      CHECK(a == b);
      CHECK(with.iterator.state() == without.iterator.state());
    }
    CHECK(with.values() == without.values());
    CHECK(with.network.random_position() == without.network.random_position());
    CHECK(with.iterator.batch_size() == 8);
    CHECK(with.updater.step() == 9);
  }
  TrainingRun one(1);
  one.iterator.set_batch_size(1);
  CHECK_THROWS_WITH_AS(measure_gradient_norms(one.updater), doctest::Contains("2 or more samples"),
                       Error);
}

TEST_CASE("noise scale: a run that cannot be restored does not train on") {
  std::string said;
  set_log_sink([&](LogLevel, std::string_view text) { said += text; });
  const auto data = std::make_shared<FailingPatterns>(50);
  TrainingRun run(2, "momentum", 0.05, data);
  const int64_t before = data->calls;
  CHECK_NOTHROW(measure_gradient_norms(run.updater));
  const int64_t calls = data->calls - before;  // the last one restores the iterator
  data->first_failure = data->calls + calls;
  data->failures = 2;  // the destructor's attempt too
  CHECK_THROWS_AS(measure_gradient_norms(run.updater), RunNotRestored);
  CHECK_THROWS_AS(run.updater.update(), RunNotRestored);
  CHECK_THROWS_AS(run.trainer.state(), RunNotRestored);
  set_log_sink({});
  CHECK(said.find("could not be restored") != std::string::npos);
}

TEST_CASE("noise cap: without memory to restore the run after a measurement, training ends") {
  /// The first batch of a measurement fails, and so does restoring the run.
  class Breaks : public Extension {
   public:
    explicit Breaks(std::shared_ptr<FailingPatterns> data) : data_(std::move(data)) {}
    void on_step(Trainer& trainer) override {
      if (trainer.step() != 3) return;
      data_->first_failure = data_->calls + 2;  // NoiseCap calls size() once before it
      data_->failures = 2;
    }

   private:
    std::shared_ptr<FailingPatterns> data_;
  };
  set_log_sink([](LogLevel, std::string_view) {});
  const auto data = std::make_shared<FailingPatterns>(50);
  TrainingRun run(2, "momentum", 0.05, data);
  run.trainer.extend(std::make_unique<Breaks>(data));
  add_cap(run.trainer, 8);
  CHECK_THROWS_AS(run.trainer.run(), RunNotRestored);
  CHECK(data->calls >= data->first_failure + data->failures - 1);
  set_log_sink({});
}

TEST_CASE("noise cap: the size and the rate change after the first epoch") {
  for (int64_t largest : {4, 8, 32}) {
    CAPTURE(largest);
    TrainingRun run(3);
    const NoiseCap& cap = add_cap(run.trainer, largest);
    auto& seen = static_cast<SizesAndRates&>(run.trainer.extend(std::make_unique<SizesAndRates>()));
    run.trainer.run();
    REQUIRE(cap.noise_scale().value());
    const int64_t first = std::min<int64_t>(largest, 8), last = run.iterator.batch_size();
    CHECK(last ==
          std::clamp<int64_t>(static_cast<int64_t>(*cap.noise_scale().value()), 2, largest));
    const auto steps = static_cast<size_t>((50 + first - 1) / first);
    for (size_t i = 0; i < seen.sizes.size(); ++i)
      CHECK(seen.sizes[i] == (i < steps ? first : last));
    // The rate goes to its value over the second epoch.
    const auto rate = [](int64_t size) { return std::sqrt(static_cast<double>(size) / 8); };
    CHECK(seen.rates[0] == doctest::Approx(rate(first)));
    CHECK(seen.rates[steps] == doctest::Approx(rate(first)));
    CHECK(seen.rates[steps + 1] ==
          doctest::Approx(std::lerp(rate(first), rate(last), static_cast<double>(last) / 50)));
    CHECK(seen.rates.back() == doctest::Approx(rate(last)));
    CHECK(run.iterator.epoch() == 3);  // no sample is lost
    CHECK(run.updater.step() == static_cast<int64_t>(steps) + 2 * ((50 + last - 1) / last));
  }
}

TEST_CASE("noise cap: a given learning rate stays, and --accumulate divides the size") {
  TrainingRun run(2);
  add_cap(run.trainer, 32, RateScaling::none);
  run.trainer.run();
  CHECK(run.updater.learning_rate_scale() == 2);  // of MinibatchSizeOptimizer alone

  PlainRun plain({.batch_size = 8, .accumulate = 4});
  const NoiseCap& cap = add_cap(plain.trainer, 32);
  plain.trainer.run();
  const double scale = cap.noise_scale().value().value_or(1e9);
  CHECK(plain.iterator.batch_size() ==
        std::clamp<int64_t>(static_cast<int64_t>(std::min(scale / 4, 32.0)), 2, 32));
}

TEST_CASE("noise cap: a resumed run continues bit for bit") {
  TestFolder folder("noise");
  const std::string file = folder.path / "run.safetensors";
  for (int64_t stop : {3, 7, 8}) {  // in the first epoch, at its end, in the second
    CAPTURE(stop);
    class StopAt : public Extension {
     public:
      explicit StopAt(int64_t step) : step_(step) {}
      void on_step(Trainer& trainer) override {
        if (trainer.step() == step_) trainer.stop("interrupted");
      }

     private:
      int64_t step_;
    };
    TrainingRun whole(3), first(3), second(3);
    add_cap(whole.trainer, 32);
    whole.trainer.run();
    add_cap(first.trainer, 32);
    first.trainer.extend(std::make_unique<StopAt>(stop));
    first.trainer.run();
    write_checkpoint(file, first.trainer);
    add_cap(second.trainer, 32);
    read_checkpoint(file, second.trainer);
    second.trainer.run();
    CHECK(second.values() == whole.values());
    CHECK(second.iterator.batch_size() == whole.iterator.batch_size());
    CHECK(second.updater.learning_rate() == whole.updater.learning_rate());
  }
}

}  // namespace kaiseki::nn
