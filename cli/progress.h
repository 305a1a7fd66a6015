// SPDX-License-Identifier: MIT
// Shows the progress of training: a live line on a terminal, plain lines elsewhere, and one line
// for each epoch.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "nn/train/trainer.h"

namespace kaiseki::cli {

/// Shows how many samples an evaluation has done: on a terminal a live line, elsewhere a line every
/// 10 s. `drawn` is the time (steady_seconds()) of the last line, or of the start.
void show_evaluation(int64_t done, int64_t total, double& drawn);

class ProgressDisplay : public nn::Extension {
 public:
  void on_start(nn::Trainer& trainer) override;
  void on_step(nn::Trainer& trainer) override;
  void on_epoch(nn::Trainer& trainer) override;
  void on_finish(nn::Trainer& trainer) override;

  /// Shows the progress of an evaluation between two epochs.
  void on_evaluation(int64_t done, int64_t total) { show_evaluation(done, total, drawn_); }
  /// Adds a text to each progress line.
  void show_also(std::function<std::string()> text) { also_ = std::move(text); }
  /// Images per second in the last epoch, without evaluations. 0 before its end.
  double last_speed() const { return last_speed_; }

 private:
  struct TimedSamples {
    double time;  // steady_seconds()
    int64_t samples;
  };

  double images_per_second() const;
  double seconds_left(nn::Trainer& trainer) const;
  void draw(nn::Trainer& trainer);
  /// Warns once if training waited for data in this epoch. `seconds` is the epoch's length.
  void advise(nn::Trainer& trainer, double seconds);

  double start_ = 0, drawn_ = 0, epoch_start_ = 0, trained_ = 0;  // steady_seconds()
  std::deque<TimedSamples> marks_;                                // of the last seconds
  int64_t samples_ = 0;                                           // trained in this run
  int64_t epoch_samples_ = 0;
  int64_t seen_ = 0;               // samples_seen()
  double evaluation_seconds_ = 0;  // of one evaluation
  std::optional<double> best_;     // accuracy
  double data_wait_ = 0;           // at the last epoch's end
  double last_speed_ = 0;
  std::function<std::string()> also_;
  bool advised_ = false;  // whether the warning about slow data was shown
};

/// The samples of a pass: a minibatch, or a part of one.
int64_t samples_of_pass(const nn::Updater& updater);
/// Network::predict_pass() for them.
nn::PassPrediction predict_pass(nn::Updater& updater);

/// "━━━━━━━━╸━━━━" in two colors, or "#####-----".
std::string progress_bar(double share, int columns);

}  // namespace kaiseki::cli
