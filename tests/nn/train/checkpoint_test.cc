// SPDX-License-Identifier: MIT
#include "nn/train/checkpoint.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/file.h"
#include "base/log.h"
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

TEST_CASE("checkpoint: a resumed run continues with the same bits, for all optimizers and steps") {
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

TEST_CASE("checkpoint: the newest and the best are kept, resume() uses the newest readable one") {
  const TestFolder folder("folder");
  TrainingRun run(6);
  run.trainer.extend(std::make_unique<Evaluator>(std::make_shared<Patterns>(30)));
  run.trainer.extend(
      std::make_unique<Checkpointer>(CheckpointerOptions{.folder = folder.path, .keep = 2}));
  run.trainer.run();
  auto files = list_checkpoints(folder.path);
  REQUIRE(files.size() == 2);
  CHECK(std::filesystem::path(files[0]).filename() == "checkpoint-00000042.safetensors");
  CHECK(std::filesystem::path(files[1]).filename() == "checkpoint-00000035.safetensors");
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

TEST_CASE("checkpoint: a run does not mix its checkpoints with those of another run") {
  const TestFolder folder("mixed");
  const CheckpointerOptions options{.folder = folder.path, .keep = 2};
  TrainingRun old(4);
  old.trainer.extend(std::make_unique<Checkpointer>(options));
  old.trainer.run();
  const auto before = list_checkpoints(folder.path);
  REQUIRE(before.size() == 2);

  TrainingRun fresh(1);
  fresh.trainer.extend(std::make_unique<Checkpointer>(options));
  CHECK_THROWS_WITH_AS(fresh.trainer.run(),
                       doctest::Contains("resume that run, use another folder"), CheckpointsExist);
  CHECK(fresh.trainer.step() == 0);
  CHECK(list_checkpoints(folder.path) == before);

  const TestFolder elsewhere("elsewhere");
  TrainingRun other(6);
  read_checkpoint(before[1], other.trainer);
  other.trainer.run();
  write_checkpoint(elsewhere.path / "c.safetensors", other.trainer);
  TrainingRun stranger(7);
  read_checkpoint(elsewhere.path / "c.safetensors", stranger.trainer);
  stranger.trainer.extend(std::make_unique<Checkpointer>(options));
  CHECK_THROWS_AS(stranger.trainer.run(), Error);
  CHECK(list_checkpoints(folder.path) == before);
}

TEST_CASE("checkpoint: resume() restarts a run that has best weights but no checkpoint") {
  const TestFolder folder("killed");
  write_file_atomic(folder.path / "best.safetensors", as_bytes("the best"));
  TrainingRun run(2);
  CHECK(!resume(folder.path, run.trainer));
  CHECK(read_file(folder.path / "before.safetensors").size() == 8);
  write_file_atomic(folder.path / "best.safetensors", as_bytes("better"));
  std::string said;
  set_log_sink([&](LogLevel, std::string_view text) { said += text; });
  CHECK(!resume(folder.path, run.trainer));
  set_log_sink({});
  const auto second = folder.path / "before-2.safetensors";
  CHECK(read_file(folder.path / "before.safetensors").size() == 8);
  CHECK(read_file(second).size() == 6);
  CHECK(said.find(second.string()) != std::string::npos);
  run.trainer.extend(std::make_unique<Checkpointer>(CheckpointerOptions{.folder = folder.path}));
  run.trainer.run();
  CHECK(list_checkpoints(folder.path).size() > 0);
}

TEST_CASE("checkpoint: a damaged checkpoint is deleted when a later one is written") {
  const TestFolder folder("damaged");
  const CheckpointerOptions options{.folder = folder.path, .keep = 1};
  TrainingRun run(2);
  run.trainer.extend(std::make_unique<Checkpointer>(options));
  run.trainer.run();
  const auto damaged = checkpoint_file(folder.path, 42);
  write_file_atomic(damaged, as_bytes("damaged"));

  TrainingRun again(3);
  again.trainer.extend(std::make_unique<Checkpointer>(options));
  CHECK(resume(folder.path, again.trainer) == checkpoint_file(folder.path, 14));
  again.trainer.run();
  CHECK(list_checkpoints(folder.path) == std::vector{checkpoint_file(folder.path, 21)});
}

TEST_CASE("checkpoint: resume() skips one with a flipped bit in a tensor") {
  const TestFolder folder("flipped");
  TrainingRun run(3);
  run.trainer.extend(
      std::make_unique<Checkpointer>(CheckpointerOptions{.folder = folder.path, .keep = 2}));
  run.trainer.run();
  ByteVector newest = read_file(checkpoint_file(folder.path, 21));
  newest[newest.size() - 2] ^= std::byte{1};
  write_file_atomic(checkpoint_file(folder.path, 21), newest);
  TrainingRun again(3);
  CHECK(resume(folder.path, again.trainer) == checkpoint_file(folder.path, 14));
}

TEST_CASE("checkpoint: the best score changes only after the best weights are written") {
  const TestFolder folder("best");
  const auto best = folder.path / "best.safetensors";
  std::filesystem::create_directory(best);  // a folder cannot be replaced by a file
  write_file_atomic(best / "in the way", as_bytes("x"));
  const CheckpointerOptions options{.folder = folder.path};
  Metadata state;
  {
    TrainingRun run(1);
    run.trainer.extend(std::make_unique<Evaluator>(std::make_shared<Patterns>(30)));
    auto& checkpointer =
        static_cast<Checkpointer&>(run.trainer.extend(std::make_unique<Checkpointer>(options)));
    run.trainer.run();
    CHECK(checkpointer.last() == checkpoint_file(folder.path, 7));
    CHECK(checkpointer.problem().find("best.safetensors") != std::string::npos);
    read_safetensors(checkpointer.last(), &state);
    CHECK(!state.contains("checkpointer.best"));
  }
  std::filesystem::remove_all(best);

  TrainingRun run(3);
  run.trainer.extend(std::make_unique<Evaluator>(std::make_shared<Patterns>(30)));
  auto& checkpointer =
      static_cast<Checkpointer&>(run.trainer.extend(std::make_unique<Checkpointer>(options)));
  REQUIRE(resume(folder.path, run.trainer));
  run.trainer.run();
  CHECK(checkpointer.problem() == "");
  Metadata of_best;
  read_safetensors(best, &of_best);
  read_safetensors(checkpointer.last(), &state);
  CHECK(state.at("checkpointer.best") == of_best.at("top1"));
}

/// Gives each epoch the next of these losses, without classes.
class Losses final : public Extension {
 public:
  explicit Losses(std::vector<double> losses) : losses_(std::move(losses)) {}
  void on_epoch(Trainer& trainer) override {
    Evaluation evaluation;
    evaluation.loss = losses_.at(static_cast<size_t>(trainer.epoch() - 1));
    trainer.set_evaluation(evaluation);
  }

 private:
  std::vector<double> losses_;
};

TEST_CASE("checkpoint: a score of NaN is not the best") {
  const TestFolder folder("nan");
  TrainingRun run(3);
  run.trainer.extend(std::make_unique<Losses>(std::vector<double>{NAN, 2, NAN}));
  run.trainer.extend(std::make_unique<Checkpointer>(CheckpointerOptions{.folder = folder.path}));
  run.trainer.run();
  Metadata best;
  read_safetensors(folder.path / "best.safetensors", &best);
  CHECK(best.at("step") == "14");
}

TEST_CASE("checkpoint: weights that are NaN or infinite are not saved") {
  const TestFolder folder("finite");
  TrainingRun run(1);
  const auto file = folder.path / "w.safetensors";
  write_weights(file, run.network, {{"note", "good"}});
  const ByteVector good = read_file(file);
  run.network.parameters()[0].value.mutable_data<float>()[3] = NAN;
  CHECK_THROWS_WITH_AS(write_weights(file, run.network, {}),
                       "[save] expected finite weights, got nan in fc1.weight[3]", Error);
  CHECK(read_file(file) == good);
}

TEST_CASE("checkpoint: can be loaded as weights, and another run's checkpoint throws Error") {
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
