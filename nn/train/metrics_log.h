// SPDX-License-Identifier: MIT
// MetricsLog: training as JSON lines in a file, one for some steps and one for each epoch.
#pragma once

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "nn/train/extension.h"
#include "nn/train/metrics.h"

namespace kaiseki::nn {

/// Lines have "event" ("step", "epoch"), "step", "epoch" (from 1), "loss", "accuracy",
/// "learning_rate", "images_per_second" (of training alone), "data_wait" (seconds of that in which
/// no batch was ready), "memory" (peak bytes of the device's
/// pool) and "seconds" (since the start of this run); those of epochs also "test_loss",
/// "test_accuracy", "test_top5" when there was an evaluation.
class MetricsLog : public Extension {
 public:
  /// Appends to the file when training is resumed, else replaces it. Throws Error when it cannot be
  /// opened.
  MetricsLog(const std::filesystem::path& file, int64_t every_steps);
  void on_start(Trainer& trainer) override;
  void on_step(Trainer& trainer) override;
  void on_epoch(Trainer& trainer) override;

  /// Why a line could not be written; empty when all were. Training goes on without it.
  const std::string& problem() const { return problem_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using Clock = std::chrono::steady_clock;

  void line(Trainer& trainer, bool epoch, const MetricTotals& totals, int64_t samples);
  static double seconds_between(Clock::time_point start, Clock::time_point end);

  std::filesystem::path path_;
  std::string problem_;
  int64_t every_;
  std::unique_ptr<std::FILE, Close> file_;
  Clock::time_point start_, last_time_, epoch_time_, step_time_;
  MetricTotals last_;
  double last_wait_ = 0, epoch_wait_ = 0;
  int64_t epoch_samples_ = 0;  // of this epoch before this run began
};

}  // namespace kaiseki::nn
