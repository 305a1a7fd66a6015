// SPDX-License-Identifier: MIT
// MetricsLog: writes JSON lines to a file, for every few steps and for each epoch.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "nn/train/extension.h"
#include "nn/train/metrics.h"

namespace kaiseki::nn {

/// Lines have "event" ("step", "epoch"), "step", "epoch" (from 1), "loss", "accuracy" and
/// "learning_rate". "images_per_second" excludes evaluation. "data_wait" is the seconds without a
/// ready batch. "seconds" is the time since the start of this run. "memory" (the peak),
/// "memory_in_use", "memory_cached" and "memory_workspace" are bytes of the allocator. After an
/// evaluation, the line of the epoch also has "test_loss", "test_accuracy" and "test_top5".
class MetricsLog : public Extension {
 public:
  /// Appends to the file if training is resumed, else replaces it. Throws Error if the file cannot
  /// be opened.
  MetricsLog(const std::string& file, int64_t every_steps);
  void on_start(Trainer& trainer) override;
  void on_step(Trainer& trainer) override;
  void on_epoch(Trainer& trainer) override;

  /// The error of writing a line. Empty if all lines were written. Training continues without the
  /// line.
  const std::string& problem() const { return problem_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void line(Trainer& trainer, bool epoch, const MetricTotals& totals, int64_t samples);

  std::string path_;
  std::string problem_;
  int64_t every_;
  std::unique_ptr<std::FILE, Close> file_;
  double start_ = 0, last_time_ = 0, epoch_time_ = 0, step_time_ = 0;  // steady_seconds()
  MetricTotals last_;
  double last_wait_ = 0, epoch_wait_ = 0;
  int64_t epoch_samples_ = 0;  // samples of this epoch before this run began
};

}  // namespace kaiseki::nn
