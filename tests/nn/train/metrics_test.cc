// SPDX-License-Identifier: MIT
#include "nn/train/metrics.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "nn/train/json_line.h"
#include "nn/train/metrics_log.h"
#include "tests/nn/train/fixture.h"

namespace kaiseki::nn {

TEST_CASE("metrics: totals over batches of several sizes") {
  Metrics metrics;
  auto labels = [](std::vector<int32_t> values) {
    const Shape shape{static_cast<int64_t>(values.size())};
    return Tensor::from(std::span<const int32_t>(values), shape);
  };
  metrics.add(Tensor::from({2.0f}, {1}), Tensor::from({0.1f, 0.9f, 0.8f, 0.2f}, {2, 2}),
              labels({1, 1}));
  metrics.add(Tensor::from({0.5f}, {}), Tensor::from({0.3f, 0.7f}, {1, 2}), labels({1}));
  MetricTotals totals = metrics.read();
  CHECK(totals.samples == 3);
  CHECK(totals.loss() == doctest::Approx(4.5 / 3));
  CHECK(totals.accuracy() == doctest::Approx(2.0 / 3));
  metrics.add(Tensor::from({1.0f}, {1}), Tensor::from({0.3f, 0.7f}, {1, 2}), labels({-1}));
  CHECK(metrics.read().classified == 3);
  CHECK(metrics.read().samples == 4);

  metrics.reset(totals);
  CHECK(metrics.read() == totals);
  metrics.reset();
  CHECK(metrics.read() == MetricTotals{});
  CHECK(metrics.read().accuracy() == 0);
}

TEST_CASE("metrics: without classes only the loss counts, and NaN is kept") {
  Metrics metrics;
  metrics.add(Tensor::from({1.0f}, {1}), Tensor::zeros({4, 3, 2}), Tensor::zeros({4, 3, 2}));
  CHECK(metrics.read().classified == 0);
  CHECK(metrics.read().loss() == 1);
  metrics.add(Tensor::full({1}, NAN), Tensor::zeros({4, 3, 2}), Tensor::zeros({4, 3, 2}));
  metrics.add(Tensor::from({1.0f}, {1}), Tensor::zeros({4, 3, 2}), Tensor::zeros({4, 3, 2}));
  CHECK(std::isnan(metrics.read().loss()));
}

TEST_CASE("metrics: JSON lines") {
  CHECK(JsonLine().str() == "{}");
  CHECK(JsonLine().add("a", 3).add("b", 0.25).add("c", true).str() ==
        R"({"a": 3, "b": 0.25, "c": true})");
  CHECK(JsonLine().add("q\"", "x\\y\n\x01").str() == R"({"q\"": "x\\y\u000a\u0001"})");
  CHECK(JsonLine().add("é", "\x7f\xc2\x9b\xff懐").str() == R"({"é": "\u007f\u009b\ufffd懐"})");
  CHECK(JsonLine().add("a", "b\u202ec\u2066").str() == R"({"a": "b\u202ec\u2066"})");
  CHECK(JsonLine().add("nan", NAN).add("big", INFINITY).str() == R"({"nan": null, "big": null})");
}

TEST_CASE("metrics: images per second of an epoch count training only") {
  class Slow : public Extension {
    // Simulates work.
    void on_epoch(Trainer&) override { std::this_thread::sleep_for(std::chrono::seconds(1)); }
  };
  const TestFolder folder("speed");
  const auto file = folder.path / "run.jsonl";
  TrainingRun run(1);
  run.trainer.extend(std::make_unique<Slow>());
  run.trainer.extend(std::make_unique<MetricsLog>(file, 100));
  run.trainer.run();
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  const std::string key = "\"images_per_second\": ";
  REQUIRE(line.find(key) != std::string::npos);
  const double speed = std::stod(line.substr(line.find(key) + key.size()));
  CHECK(speed > 50);  // 50 samples, and a second outside of training
}

TEST_CASE("metrics: the log has lines for every few steps and for each epoch") {
  const TestFolder folder("log");
  const auto file = folder.path / "run.jsonl";
  TrainingRun run(2);
  run.trainer.extend(std::make_unique<Evaluator>(std::make_shared<Patterns>(9)));
  run.trainer.extend(std::make_unique<MetricsLog>(file, 3));
  run.trainer.run();
  std::ifstream in(file);
  std::vector<std::string> starts;
  for (std::string line; std::getline(in, line);)
    starts.push_back(line.substr(0, line.find(", \"loss\"")));
  CHECK(starts == std::vector<std::string>{R"({"event": "step", "step": 3, "epoch": 1)",
                                           R"({"event": "step", "step": 6, "epoch": 1)",
                                           R"({"event": "epoch", "step": 7, "epoch": 1)",
                                           R"({"event": "step", "step": 9, "epoch": 2)",
                                           R"({"event": "step", "step": 12, "epoch": 2)",
                                           R"({"event": "epoch", "step": 14, "epoch": 2)"});
  TrainingRun other(1);
  other.trainer.extend(std::make_unique<MetricsLog>(folder.path / "none" / "x", 3));
  CHECK_THROWS_AS(other.trainer.run(), Error);
}

}  // namespace kaiseki::nn
