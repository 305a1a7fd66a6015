// SPDX-License-Identifier: MIT
// The automatic size of a minibatch on a device with little memory. Large sizes then run in parts.
#include <doctest/doctest.h>

#include "base/log.h"
#include "matrix/memory/allocator.h"
#include "nn/train/minibatch_size.h"
#include "tests/nn/train/fixture.h"
#include "tests/support/devices.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::nn {
namespace {

constexpr int64_t kStart = 64, kSamples = 200;

/// A sample needs far more memory than its picture.
PlainRunOptions options_of(const char* rule) {
  return {.rule = rule, .batch_size = kStart, .samples = kSamples, .hidden = 256};
}

/// A budget for memory that is allocated from now on. The log is silent.
class WithRoom {
 public:
  explicit WithRoom(uint64_t bytes) {
    memory_.trim();
    memory_.set_budget(memory_.account().in_use + bytes);
    memory_.reset_peak();
    set_log_sink([](LogLevel, std::string_view) {});
  }
  ~WithRoom() {
    memory_.set_budget({});
    set_log_sink({});
  }
  WithRoom(const WithRoom&) = delete;
  bool was_enough() const { return memory_.account().peak <= memory_.account().budget; }

 private:
  Allocator& memory_ = Device::cpu().memory();
};

/// The least room in which minibatches of kStart samples train, and a reserve for the prepared
/// batches of the iterator.
uint64_t least_room(const char* rule) {
  for (uint64_t room = 16 << 10;; room += 4 << 10) {
    const WithRoom limited(room);
    try {
      PlainRun run(options_of(rule));
      run.trainer.run();
      return room + (8 << 10);
    } catch (const OutOfMemory&) {
    }
  }
}

}  // namespace

TEST_CASE("minibatch memory: a run that trains in parts never fails because of the choice") {
  for (const char* rule : {"sgd", "momentum", "adam"}) {
    const uint64_t least = least_room(rule);
    for (uint64_t room : {least, least * 5 / 4, 2 * least, 3 * least, 5 * least}) {
      CAPTURE(std::string(rule));
      CAPTURE(room);
      const WithRoom limited(room);
      PlainRun run(options_of(rule));
      const auto& automatic = static_cast<MinibatchSizeOptimizer&>(run.trainer.extend(
          std::make_unique<MinibatchSizeOptimizer>(std::make_unique<FitEpochTime>())));
      REQUIRE_NOTHROW(run.trainer.run());
      CHECK(run.iterator.batch_size() == automatic.size());
      CHECK(limited.was_enough());
    }
  }
}

TEST_CASE("minibatch memory: a size that runs in parts is measured so") {
  PlainRun whole(options_of("momentum"));
  {
    UpdaterTrials trials(whole.updater);
    REQUIRE(trials.run(kSamples, 1));
    CHECK(whole.updater.parts() == 1);
  }
  const WithRoom limited(3 * least_room("momentum"));
  PlainRun run(options_of("momentum"));
  UpdaterTrials trials(run.updater);
  FitEpochTime strategy;
  CHECK(strategy.choose(trials, kStart) <= kSamples);
  REQUIRE(strategy.probes().size() >= 3);
  CHECK(strategy.probes().back().size == kSamples);
  CHECK(trials.run(kSamples, 1));
  CHECK(run.updater.parts() > 1);
}

TEST_CASE("minibatch memory: without memory for trials, the size stays") {
  std::string said;
  const WithRoom limited(least_room("adam"));
  set_log_sink([&](LogLevel, std::string_view text) { said += text; });
  PlainRun run(options_of("adam"));
  run.trainer.extend(std::make_unique<MinibatchSizeOptimizer>(std::make_unique<FitEpochTime>()));
  CHECK_NOTHROW(run.trainer.run());
  CHECK(said.find("too little memory to try batch sizes. The size stays 64") != std::string::npos);
  CHECK(run.iterator.batch_size() == kStart);
  CHECK(run.updater.learning_rate() == doctest::Approx(0.05));
  CHECK(run.iterator.epoch() == 2);
}

TEST_CASE("minibatch memory: a size whose tensors do not fit together is measured so") {
  if (!test::opencl_is_there()) return;
  const Device device = Device::opencl();
  Allocator& memory = device.memory();
  const test::WithTunePolicy policy({TuneMode::off});
  memory.trim();
  const uint64_t used = memory.account().in_use;
  // Batch normalization needs the whole minibatch. Small tensors do not wait.
  Network network = Network::parse(R"({"inputs": {"x": {"shape": [1, 4, 5]}}, "layers": [
      {"type": "fully_connected", "output_size": 1024}, {"type": "batch_normalization"},
      {"type": "relu"}, {"type": "fully_connected", "output_size": 1024},
      {"type": "batch_normalization"}, {"type": "tanh"},
      {"type": "fully_connected", "output_size": 3}, {"type": "softmax"}]})",
                                   "test", device);
  network.initialize(9);
  Optimizer optimizer;
  Iterator iterator(std::make_shared<Patterns>(1024), {.batch_size = 256, .seed = 4});
  Updater updater(network, optimizer, iterator, Schedule{.base = 0.01});
  UpdaterTrials trials(updater);
  memory.reset_peak();
  REQUIRE(trials.run(512, 1));
  memory.set_budget(used + (memory.account().peak - used) * 3 / 4);
  memory.trim();
  memory.reset_peak();
  const std::optional<MinibatchTrials::Trial> trial = trials.run(512, 1);
  CHECK(memory.account().peak <= memory.account().budget);  // they move, or are computed again
  CHECK(updater.parts() == 1);
  CHECK(FitEpochTime().choose(trials, 256) >= 64);
  memory.set_budget({});
  CHECK(trial);
}

TEST_CASE("minibatch memory: trials in parts leave no trace in a run") {
  for (const char* rule : {"sgd", "momentum", "adam"}) {
    const uint64_t least = least_room(rule);
    bool in_parts = false;
    for (uint64_t room : {2 * least, 3 * least, 5 * least}) {
      CAPTURE(std::string(rule));
      CAPTURE(room);
      const auto train = [&](bool tries) {
        const WithRoom limited(room);
        PlainRun run(options_of(rule));
        if (tries) {
          const Allocator& memory = Device::cpu().memory();
          run.optimizer.states(run.network.parameters());
          const uint64_t before = memory.account().in_use;
          {
            UpdaterTrials trials(run.updater);
            for (int64_t size : {int64_t{16}, kSamples, kStart, kSamples}) trials.run(size, 2);
          }
          CHECK(memory.account().in_use == before);
        }
        std::vector<std::vector<float>> values;
        for (int step = 0; step < 5; ++step)
          values.push_back(run.updater.update().loss.to_vector());
        values.push_back({static_cast<float>(run.updater.parts())});
        in_parts |= run.updater.parts() > 1;
        for (const std::vector<float>& one : run.values()) values.push_back(one);
        return values;
      };
      CHECK(train(true) == train(false));
    }
    CHECK(in_parts);
  }
}

}  // namespace kaiseki::nn
