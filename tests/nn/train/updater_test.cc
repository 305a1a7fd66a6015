// SPDX-License-Identifier: MIT
// Steps of several minibatches.
#include "nn/train/updater.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "matrix/memory/allocator.h"
#include "nn/train/checkpoint.h"
#include "tests/nn/train/fixture.h"
#include "tests/support/wait_until.h"

namespace kaiseki::nn {
namespace {

/// Lifts the CPU's budget as soon as a background thread begins to prepare a batch.
class LiftsBudget : public Patterns {
 public:
  using Patterns::Patterns;
  int64_t size() const override {
    if (std::this_thread::get_id() != main_) Device::cpu().memory().set_budget({});
    return Patterns::size();
  }

 private:
  std::thread::id main_ = std::this_thread::get_id();
};

}  // namespace

TEST_CASE("updater: a step of several minibatches equals one of a large minibatch") {
  for (const char* rule : {"sgd", "momentum", "adam"}) {
    CAPTURE(rule);
    PlainRun parts({.rule = rule, .batch_size = 8, .accumulate = 3}),
        whole({.rule = rule, .batch_size = 24});  // 50 samples: 24, 24 and 2
    for (int step = 0; step < 6; ++step) {
      CAPTURE(step);
      const Updater::Result a = parts.updater.update(), b = whole.updater.update();
      CHECK(a.loss.item() == doctest::Approx(b.loss.item()).epsilon(1e-5));
      CHECK(a.labels.to_vector<int32_t>() == b.labels.to_vector<int32_t>());
      CHECK(a.output.shape() == b.output.shape());
      CHECK(parts.iterator.state() == whole.iterator.state());
    }
    CHECK(parts.updater.step() == 6);
    CHECK(parts.network.random_position() == whole.network.random_position());
    for (size_t i = 0; i < parts.network.parameters().size(); ++i) {
      const std::vector<float> a = parts.network.parameters()[i].value.to_vector(),
                               b = whole.network.parameters()[i].value.to_vector();
      // Sums in another order. Adam divides by the root of small squares, which enlarges the
      // difference.
      for (size_t k = 0; k < a.size(); ++k) CHECK(std::abs(a[k] - b[k]) < 2e-5);
    }
  }
}

TEST_CASE("updater: a minibatch that exceeds the device's memory runs in parts") {
  Allocator& memory = Device::cpu().memory();
  for (const char* rule : {"sgd", "momentum", "adam"}) {
    CAPTURE(rule);
    PlainRun whole({.rule = rule, .batch_size = 24});
    whole.updater.update();
    CHECK(whole.updater.parts() == 1);
    const uint64_t used = memory.account().in_use;
    bool fits = false;
    for (uint64_t room = 2 << 10; !fits; room += 512) {  // until it runs in many small parts
      CAPTURE(room);
      memory.trim();
      memory.set_budget(used + room);
      memory.reset_peak();
      try {
        PlainRun parts({.rule = rule, .batch_size = 24});
        const Updater::Result part = parts.updater.update();
        CHECK(memory.account().peak <= used + room);
        memory.set_budget({});
        CHECK(parts.updater.parts() > 1);
        CHECK(part.output.dim(0) == 24);
        for (size_t i = 0; i < parts.network.parameters().size(); ++i) {
          const std::vector<float> a = parts.network.parameters()[i].value.to_vector(),
                                   b = whole.network.parameters()[i].value.to_vector();
          for (size_t k = 0; k < a.size(); ++k) CHECK(std::abs(a[k] - b[k]) < 2e-5);
        }
        fits = true;
      } catch (const OutOfMemory&) {
      }
    }
    memory.set_budget({});
  }
}

TEST_CASE("updater: room for the bytes of the batches, but not for their block, is no error") {
  Allocator& memory = Device::cpu().memory();
  TrainingRun run(1, "momentum", 0.05, std::make_shared<LiftsBudget>(50));
  int64_t size = 8;
  while (memory.rounded(run.iterator.most_bytes()) < run.iterator.most_bytes() + 2)
    run.iterator.set_batch_size(++size);
  run.network.zero_grad(run.optimizer);
  run.optimizer.states(run.network.parameters());
  memory.trim();
  memory.set_budget(memory.account().in_use + run.iterator.most_bytes() + 1);
  CHECK_NOTHROW(run.updater.update());
  memory.set_budget({});
  CHECK(run.updater.step() == 1);
}

TEST_CASE("updater: batches that are ready do not count twice in the choice of the parts") {
  Allocator& memory = Device::cpu().memory();
  set_log_sink([](LogLevel, std::string_view) {});
  int64_t most = 0;
  for (uint64_t room = 100 << 10; room < 300 << 10; room += 10 << 10) {
    CAPTURE(room);
    const auto parts_of = [&](bool reads_before) {
      PlainRun run({.batch_size = 240, .samples = 2400, .hidden = 64});
      run.network.zero_grad(run.optimizer);
      run.optimizer.states(run.network.parameters());
      memory.trim();
      const uint64_t used = memory.account().in_use;
      if (reads_before) {
        Batch batch;
        run.iterator.next(batch);
        batch = {};
        const uint64_t ready = run.iterator.most_bytes() / 5 * 4;  // four batches
        REQUIRE(test::wait_until([&] { return memory.account().in_use >= used + ready; }));
      }
      memory.set_budget(used + room);
      run.updater.update();
      memory.set_budget({});
      return run.updater.parts();
    };
    const int64_t parts = parts_of(false);
    CHECK(parts_of(true) == parts);
    most = std::max(most, parts);
  }
  CHECK(most > 1);
  set_log_sink({});
}

TEST_CASE("updater: 0 minibatches in a step are refused") {
  CHECK_THROWS_WITH_AS(PlainRun({.accumulate = 0}),
                       doctest::Contains("expected 1 or more minibatches in a step, got 0"), Error);
}

TEST_CASE("updater: a checkpoint resumes with another minibatch size at the same sample") {
  TestFolder folder("accumulate");
  const std::string file = folder.path / "run.safetensors";
  PlainRun first({.batch_size = 8, .accumulate = 2}), same({.batch_size = 16}),
      larger({.batch_size = 32});
  first.updater.update();
  write_checkpoint(file, first.trainer);
  std::string said;
  set_log_sink([&](LogLevel, std::string_view text) { said += text; });
  PlainRun ends({.batch_size = 16});
  read_checkpoint(file, ends.trainer);
  ends.trainer.run();
  CHECK(said.empty());
  read_checkpoint(file, larger.trainer);
  CHECK(larger.iterator.position() == 16);
  larger.trainer.run();
  set_log_sink({});
  CHECK(said.find("steps had 16 samples, and the next steps have 32") != std::string::npos);
  CHECK(larger.updater.step() == 1 + 2 + 2);  // 16, then 32 and 2, then 32 and 18
  read_checkpoint(file, same.trainer);
  const Updater::Result a = first.updater.update(), b = same.updater.update();
  CHECK(a.labels.to_vector<int32_t>() == b.labels.to_vector<int32_t>());
  CHECK(a.loss.item() == doctest::Approx(b.loss.item()).epsilon(1e-5));
}

}  // namespace kaiseki::nn
