// SPDX-License-Identifier: MIT
#include "nn/train/checkpoint.h"

#include <doctest/doctest.h>

#include "nn/io/file.h"
#include "nn/io/safetensors.h"
#include "nn/optimizer.h"
#include "tests/nn/train/fixture.h"

namespace kaiseki::nn {
namespace {

class StopAt : public Extension {
 public:
  explicit StopAt(int64_t step) : step_(step) {}
  void on_step(Trainer& trainer) override {
    if (trainer.step() == step_) trainer.stop("enough");
  }

 private:
  int64_t step_;
};

}  // namespace

TEST_CASE("a resumed run continues with the same bits, with every optimizer, from any step") {
  const TestFolder folder("resume");
  for (const std::string& rule : optimizer_names())
    for (int64_t step : {1, 7, 10}) {
      CAPTURE(rule);
      CAPTURE(step);
      TrainingRun straight(3, rule.c_str(), 0.01);
      straight.trainer.run();

      const auto file = folder.path / "c.safetensors";
      TrainingRun first(3, rule.c_str(), 0.01);
      first.trainer.extend(std::make_unique<StopAt>(step));
      first.trainer.run();
      write_checkpoint(file, first.trainer);

      TrainingRun second(3, rule.c_str(), 0.01);
      second.network.initialize(1234);
      read_checkpoint(file, second.trainer);
      CHECK(second.trainer.step() == step);
      second.trainer.run();
      CHECK(second.weights() == straight.weights());
      CHECK(second.trainer.epoch_totals() == straight.trainer.epoch_totals());
    }
}

TEST_CASE("the folder keeps the newest and the best, and resume takes the newest that is whole") {
  const TestFolder folder("folder");
  TrainingRun run(6);
  run.trainer.extend(std::make_unique<Evaluator>(std::make_shared<Patterns>(30)));
  run.trainer.extend(
      std::make_unique<Checkpointer>(CheckpointerOptions{.folder = folder.path, .keep = 2}));
  run.trainer.run();
  auto files = list_checkpoints(folder.path);
  REQUIRE(files.size() == 2);
  CHECK(files[0].filename() == "checkpoint-00000042.safetensors");
  CHECK(files[1].filename() == "checkpoint-00000035.safetensors");
  CHECK(std::filesystem::exists(folder.path / "best.safetensors"));

  std::filesystem::resize_file(files[0], 1000);
  TrainingRun again(6);
  CHECK(resume(folder.path, again.trainer) == files[1]);
  CHECK(again.trainer.epoch() == 5);
  again.trainer.run();
  CHECK(again.weights() == run.weights());

  TrainingRun other(6, "adam");
  CHECK_THROWS_AS(resume(folder.path, other.trainer), Error);
  CHECK(!resume(folder.path / "nowhere", again.trainer));
  std::filesystem::resize_file(files[1], 7);
  CHECK_THROWS_AS(resume(folder.path, again.trainer), Error);
}

TEST_CASE("weights that are not numbers are not saved") {
  const TestFolder folder("finite");
  TrainingRun run(1);
  const auto file = folder.path / "w.safetensors";
  write_weights(file, run.network, {{"note", "good"}});
  const ByteVector good = read_file(file);
  run.network.parameters()[0].value.mutable_data<float>()[3] = NAN;
  CHECK_THROWS_WITH_AS(write_weights(file, run.network, {}),
                       "[checkpoint] expected finite weights, got nan in fc1.weight[3]", Error);
  CHECK(read_file(file) == good);
}

TEST_CASE("a checkpoint is also a file of weights; one of another run is refused") {
  const TestFolder folder("other");
  const auto file = folder.path / "c.safetensors";
  TrainingRun run(1);
  run.trainer.run();
  write_checkpoint(file, run.trainer, {{"class_names", "a\nb"}});
  Metadata metadata;
  bool has_weight = false, has_momentum = false;
  for (const NamedTensor& tensor : read_safetensors(file, &metadata)) {
    has_weight |= tensor.name == "fc1.weight";
    has_momentum |= tensor.name == "optimizer/fc1.weight.momentum";
  }
  CHECK(has_weight);
  CHECK(has_momentum);
  CHECK(metadata.at("step") == "7");
  CHECK(metadata.at("class_names") == "a\nb");

  TrainingRun smaller(1, "momentum", 0.1, std::make_shared<Patterns>(49));
  try {
    read_checkpoint(file, smaller.trainer);
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) ==
          file.string() + ": [checkpoint] expected iterator.samples 49 as in this run, got 50");
  }
  CHECK_THROWS_AS(read_checkpoint(folder.path / "none", run.trainer), Error);
}

}  // namespace kaiseki::nn
