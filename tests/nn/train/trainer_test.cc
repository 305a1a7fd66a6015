// SPDX-License-Identifier: MIT
#include "nn/train/trainer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "nn/train/early_stop.h"
#include "tests/nn/train/fixture.h"
#include "tests/support/read_batch.h"

namespace kaiseki::nn {
namespace {

/// Records its calls.
class Recorder : public Extension {
 public:
  explicit Recorder(std::string& text) : text_(text) {}
  void on_start(Trainer&) override { text_ += "("; }
  void on_step(Trainer&) override { text_ += "."; }
  void on_epoch(Trainer& trainer) override {
    text_ += "|";
    CHECK(trainer.epoch_totals().samples == trainer.updater().iterator().dataset().size());
    CHECK(trainer.running_totals().samples == 0);
  }
  void on_finish(Trainer&) override { text_ += ")"; }

 private:
  std::string& text_;
};

class StopAt : public Extension {
 public:
  explicit StopAt(int64_t step) : step_(step) {}
  void on_step(Trainer& trainer) override {
    if (trainer.step() == step_) trainer.stop("enough");
  }

 private:
  int64_t step_;
};

/// Sets given scores as results of evaluation.
class Scores : public Extension {
 public:
  explicit Scores(std::vector<double> scores) : scores_(std::move(scores)) {}
  void on_epoch(Trainer& trainer) override {
    Evaluation evaluation;
    evaluation.classes = 3;
    evaluation.top1 = scores_.at(static_cast<size_t>(trainer.epoch() - 1));
    trainer.set_evaluation(evaluation);
  }

 private:
  std::vector<double> scores_;
};

}  // namespace

TEST_CASE("trainer: calls extensions after steps and epochs, and counts the last partial batch") {
  TrainingRun run(2);
  std::string text;
  run.trainer.extend(std::make_unique<Recorder>(text));
  run.trainer.run();
  CHECK(text == "(.......|.......|)");
  CHECK(run.trainer.step() == 14);
  CHECK(run.trainer.stop_reason() == "");
}

TEST_CASE("trainer: the loss falls and the evaluated accuracy rises") {
  TrainingRun run(30);
  run.trainer.extend(std::make_unique<Evaluator>(std::make_shared<Patterns>(99)));
  run.trainer.run();
  const Evaluation& evaluation = *run.trainer.evaluation();
  CHECK(evaluation.samples == 99);
  CHECK(evaluation.top1 > 0.95);
  CHECK(evaluation.top5 == 1);
  int64_t total = 0, diagonal = 0;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) {
      total += evaluation.confusion[r * 3 + c];
      diagonal += r == c ? evaluation.confusion[r * 3 + c] : 0;
    }
  CHECK(total == 99);
  CHECK(static_cast<double>(diagonal) / 99 == evaluation.top1);
  CHECK(run.trainer.epoch_totals().accuracy() > 0.8);
}

TEST_CASE("trainer: evaluation agrees with losses and classes computed from the output") {
  TrainingRun run(1);
  auto data = std::make_shared<Patterns>(23, false);
  const Evaluation found = evaluate(run.network, data, {.batch_size = 7});
  double loss = 0;
  int64_t right = 0;
  for (int64_t i = 0; i < 23; ++i) {
    const Batch one = test::read_batch(*data, std::span<const int64_t>(&i, 1));
    const std::vector<float> p = run.network.forward(one.inputs(run.network.device())).to_vector();
    const int label = one.labels.to_vector<int32_t>()[0];
    loss -= std::log(static_cast<double>(p[label]));
    right += std::max_element(p.begin(), p.end()) - p.begin() == label;
  }
  CHECK(found.loss == doctest::Approx(loss / 23).epsilon(1e-5));
  CHECK(found.top1 == doctest::Approx(static_cast<double>(right) / 23));
}

TEST_CASE("trainer: a NaN output counts as wrong and is not in the confusion matrix") {
  TrainingRun run(1);
  run.network.parameters()[0].value.mutable_data<float>()[3] = NAN;
  const Evaluation found = evaluate(run.network, std::make_shared<Patterns>(23));
  CHECK(found.samples == 23);
  CHECK(std::isnan(found.loss));
  CHECK(found.top1 == 0);
  CHECK(found.top5 == 0);
  CHECK(std::all_of(found.confusion.begin(), found.confusion.end(), [](int64_t n) { return !n; }));
}

TEST_CASE("trainer: stop() ends training after the iteration and gives the reason") {
  TrainingRun run(5);
  std::string text;
  run.trainer.extend(std::make_unique<StopAt>(3));
  run.trainer.extend(std::make_unique<Recorder>(text));
  run.trainer.run();
  CHECK(text == "(...)");
  CHECK(run.trainer.stop_reason() == "enough");
}

TEST_CASE("trainer: early stop waits as many evaluations as its patience") {
  TrainingRun run(6);
  run.trainer.extend(std::make_unique<Scores>(std::vector{0.1, 0.5, 0.5, 0.4, 0.9, 0.9}));
  run.trainer.extend(std::make_unique<EarlyStop>(2));
  run.trainer.run();
  CHECK(run.trainer.epoch() == 4);
  CHECK(run.trainer.stop_reason() == "no better evaluation for 2 epochs");
}

TEST_CASE("trainer: an infinite loss throws Diverged in its epoch") {
  TrainingRun run(3);
  run.network.parameters()[0].value.mutable_data<float>()[3] = INFINITY;
  CHECK_THROWS_AS(run.trainer.run(), Diverged);
  CHECK(run.trainer.step() <= 7);
}

}  // namespace kaiseki::nn
