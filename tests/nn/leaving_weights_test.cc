// SPDX-License-Identifier: MIT
// Trainings whose weights, gradients and optimizer tensors do not fit the device together.
#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "matrix/memory/idle_tensors.h"
#include "nn/train/checkpoint.h"
#include "nn/train/run_snapshot.h"
#include "nn/weights.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/nn/less_memory.h"
#include "tests/nn/train/fixture.h"
#include "tests/support/simulated_link.h"
#include "tests/support/spill.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::nn {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr int64_t kSamples = 20;

/// 7.7 MiB of weights: the largest matrix has 4.4 MiB. The tensors of a pass have 1.5 MiB. Smooth
/// activations do not enlarge differences of rounding.
constexpr const char* kNetwork = R"({"inputs": {"x": {"shape": [1, 4, 5]}}, "layers": [
    {"name": "a", "type": "fully_connected", "output_size": 9001}, {"name": "r", "type": "tanh"},
    {"name": "d", "type": "dropout", "ratio": 0.25},
    {"name": "b", "type": "fully_connected", "output_size": 127}, {"name": "t", "type": "tanh"},
    {"name": "c", "type": "fully_connected", "output_size": 5003}, {"name": "s", "type": "sigmoid"},
    {"name": "e", "type": "fully_connected", "output_size": 3}]})";

/// 9.9 MiB of filters, the largest of 4.5 MiB, with batch normalization.
constexpr const char* kFilters = R"({"inputs": {"x": {"shape": [1, 4, 5]}}, "layers": [
    {"name": "a", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 250},
    {"name": "n", "type": "batch_normalization"}, {"name": "r", "type": "tanh"},
    {"name": "b", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 509},
    {"name": "m", "type": "batch_normalization"}, {"name": "s", "type": "sigmoid"},
    {"name": "c", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 257},
    {"name": "p", "type": "max_pooling", "kernel_size": 2, "stride": 2},
    {"name": "f", "type": "fully_connected", "output_size": 3}]})";

struct Case {
  const char* network = kNetwork;
  const char* rule = "momentum";
  double clip_norm = 0;
  std::optional<double> epsilon = {};
  int64_t accumulate = 1;
};

/// A training with a budget beside the memory in use. It writes checkpoints and evaluates.
class Run {
 public:
  Run(Device device, const Case& how, std::optional<uint64_t> bytes)
      : device_(device), before_(in_use()) {
    if (bytes) device_.memory().set_budget(before_ + *bytes);
    device_.memory().reset_peak();
    network_.emplace(Network::parse(how.network, "test", device));
    network_->initialize(9);
    optimizer_.emplace(
        OptimizerOptions{.name = how.rule, .epsilon = how.epsilon, .clip_norm = how.clip_norm});
    iterator_.emplace(data(kSamples), IteratorOptions{.batch_size = 8, .seed = 4, .workers = 1});
    updater_.emplace(*network_, *optimizer_, *iterator_, Schedule{.base = 0.01}, how.accumulate);
    trainer_.emplace(*updater_, TrainerOptions{.epochs = 2, .seed = 9});
    trainer_->extend(std::make_unique<Evaluator>(data(7), EvaluateOptions{.batch_size = 7}));
  }
  ~Run() { device_.memory().set_budget({}); }

  Trainer& trainer() { return *trainer_; }
  Updater& updater() { return *updater_; }
  Network& network() { return *network_; }
  uint64_t peak() const { return device_.memory().account().peak - before_; }

  std::vector<std::vector<float>> values() {
    IdleTensors idle(device_);
    updater_->add_idle(idle);
    return all_values(*network_, *optimizer_);
  }

 private:
  static std::shared_ptr<const Dataset> data(int64_t samples) {
    return std::make_shared<Patterns>(samples);
  }
  uint64_t in_use() const {
    device_.memory().trim();
    return device_.memory().account().in_use;
  }

  Device device_;
  uint64_t before_;
  std::optional<Network> network_;
  std::optional<Optimizer> optimizer_;
  std::optional<Iterator> iterator_;
  std::optional<Updater> updater_;
  std::optional<Trainer> trainer_;
};

/// Pieces of a matrix product add in another order. 2e-5 was measured.
void check_close(const std::vector<std::vector<float>>& values,
                 const std::vector<std::vector<float>>& expected) {
  REQUIRE(values.size() == expected.size());
  for (size_t k = 0; k < values.size(); ++k) {
    CAPTURE(k);
    REQUIRE(values[k].size() == expected[k].size());
    double difference = 0, size = 0;
    for (size_t i = 0; i < values[k].size(); ++i) {
      difference += std::pow(double{values[k][i]} - double{expected[k][i]}, 2);
      size += std::pow(double{expected[k][i]}, 2);
    }
    CHECK(std::sqrt(difference) <= 1e-4 * std::sqrt(size));
  }
}

/// Adam divides by the size of a gradient, which can be that of rounding. A larger epsilon does
/// not.
constexpr Case kCases[] = {{},
                           {.rule = "adam", .clip_norm = 1, .epsilon = 1e-3},
                           {.rule = "nesterov", .accumulate = 2},
                           {.network = kFilters}};

void check_trainings(Device device) {
  test::WithTunePolicy policy({TuneMode::off});
  device.workspace().set_limit(0);
  for (const Case& how : kCases) {
    CAPTURE(std::string(how.rule));
    Run whole(device, how, {});
    whole.trainer().run();
    const auto expected = whole.values();
    for (const uint64_t budget : {12 * kMiB, 7 * kMiB}) {
      CAPTURE(budget);
      CHECK(whole.peak() > budget);
      const TestFolder folder("leaving-weights");
      {
        Run less(device, how, budget);
        less.trainer().extend(
            std::make_unique<Checkpointer>(CheckpointerOptions{.folder = folder.path.string()}));
        less.trainer().run();
        check_close(less.values(), expected);
        CHECK(less.peak() <= budget);
      }
      const std::vector<std::string> files = list_checkpoints(folder.path.string());
      REQUIRE(files.size() == 2);
      Run resumed(device, how, budget);
      read_checkpoint(files[1], resumed.trainer());
      resumed.trainer().run();
      check_close(resumed.values(), expected);
      CHECK(resumed.peak() <= budget);
    }
  }
  device.workspace().set_limit({});
}

}  // namespace

TEST_CASE("leaving weights: a training on OpenCL with less memory than its weights") {
  opencl::OpenclBackend* backend = test::opencl_or_null();
  if (!backend) return;
  test::WithStyle with(backend->opencl(), opencl::Style::gpu);
  check_trainings(Device::opencl(0));
}

TEST_CASE("leaving weights: a training on the CPU with files") {
  const TestFolder folder("spill");
  const test::WithSpillFolder files_in(folder.path);
  check_trainings(Device::cpu());
}

TEST_CASE("leaving weights: snapshots, files of weights and new values") {
  const test::SimulatedLink link(1e12);
  test::WithTunePolicy policy({TuneMode::off});
  const TestFolder folder("weights");
  const std::string file = (folder.path / "w.safetensors").string();
  Run run(Device::cpu(), kCases[0], 7 * kMiB);
  RunSnapshot snapshot;
  snapshot.keep(run.updater());
  const auto before = run.values();
  save_weights(file, run.network());
  run.updater().update();
  const auto after = run.values();
  CHECK(after != before);
  snapshot.restore(run.updater());
  CHECK(run.values() == before);
  run.network().initialize(1);
  CHECK(run.values() != before);
  load_weights(file, run.network());
  CHECK(run.values() == before);
  CHECK(run.peak() <= 7 * kMiB);
}

TEST_CASE("leaving weights: a network larger than the memory evaluates and predicts") {
  const test::SimulatedLink link(1e12);
  test::WithTunePolicy policy({TuneMode::off});
  const auto data = std::make_shared<Patterns>(30, false);
  const Tensor x = test::random_tensor({5, 1, 4, 5}, 1);
  for (const char* json : {kNetwork, kFilters}) {
    Network whole = Network::parse(json, "test", Device::cpu());
    const Evaluation expected = evaluate(whole, data, {.batch_size = 8});
    const std::vector<float> outputs = whole.forward(x).to_vector();
    Run run(Device::cpu(), {.network = json}, 5 * kMiB);
    run.network().initialize(0);
    const Evaluation found = evaluate(run.network(), data, {.batch_size = 8});
    CHECK(found.loss == doctest::Approx(expected.loss).epsilon(1e-5));
    CHECK(found.confusion == expected.confusion);
    const std::vector<float> less = run.network().forward(x).to_vector();
    REQUIRE(less.size() == outputs.size());
    for (size_t i = 0; i < less.size(); ++i)
      CHECK(less[i] == doctest::Approx(outputs[i]).epsilon(1e-4));
    CHECK(run.peak() <= 5 * kMiB);
  }
}

TEST_CASE("leaving weights: weights beside a network without gradients count once") {
  const test::SimulatedLink link(1e12);
  const uint64_t before = Device::cpu().memory().account().in_use;
  Device::cpu().memory().set_budget(before + 14 * kMiB);
  Network network = Network::parse(kNetwork, "test", Device::cpu());
  CHECK(network.parts_of_batch(8, Phase::test) == 1);  // 7.7 MiB of weights, and no gradients
  network.zero_grad();
  CHECK(network.parts_of_batch(8, Phase::test) == 1);  // gradients can leave
  Device::cpu().memory().set_budget({});
}

}  // namespace kaiseki::nn
