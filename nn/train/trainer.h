// SPDX-License-Identifier: MIT
// Trainer: the training loop. It calls the updater and the extensions until the epochs are done. It
// checks that the loss is a finite number.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/train/diverged.h"
#include "nn/train/evaluate.h"
#include "nn/train/extension.h"
#include "nn/train/metrics.h"
#include "nn/train/updater.h"

namespace kaiseki::nn {

struct TrainerOptions {
  int64_t epochs = 1;
  uint64_t seed = 0;  // of the network; saved in checkpoints
  /// Steps between checks of the loss. Without a value: 1 on the CPU, else 16.
  std::optional<int64_t> check_every = {};
};

class Trainer {
 public:
  /// The updater must live as long as this.
  Trainer(Updater& updater, const TrainerOptions& options);

  /// Extensions are called in the order in which they were added.
  Extension& extend(std::unique_ptr<Extension> extension);

  /// Runs until options().epochs epochs are done, counted from the start of training, or until
  /// stop(). Throws Diverged, RunNotRestored, and the errors of the data set, the network and the
  /// extensions.
  void run();
  /// Ends run() after this iteration. Not for signal handlers: check a flag in an extension.
  void stop(std::string reason);
  /// The reason why run() ended early. Empty if it did not end early.
  const std::string& stop_reason() const { return stop_reason_; }

  const TrainerOptions& options() const { return options_; }
  Updater& updater() { return updater_; }
  /// The number of iterations, and of complete epochs.
  int64_t step() const { return updater_.step(); }
  int64_t epoch() const { return updater_.iterator().epoch(); }

  /// Training loss and accuracy of the current epoch so far. Waits for the device.
  const MetricTotals& running_totals();
  /// Training loss and accuracy of the last complete epoch.
  const MetricTotals& epoch_totals() const { return epoch_totals_; }
  /// The evaluation of the last complete epoch. Empty if the Evaluator skipped that epoch.
  const std::optional<Evaluation>& evaluation() const { return evaluation_; }
  void set_evaluation(Evaluation evaluation) { evaluation_ = std::move(evaluation); }

  /// The state that a checkpoint saves, without tensors. Throws RunNotRestored.
  Metadata state();
  /// Throws Error with the key if the state does not fit this run.
  void check(const Metadata& state) const;
  /// Call check() before it. Restore the tensors after it, because it initializes the network.
  void restore(const Metadata& state);

 private:
  void check_loss();
  void warn_of_other_size();

  Updater& updater_;
  TrainerOptions options_;
  std::vector<std::unique_ptr<Extension>> extensions_;
  Metrics metrics_;
  MetricTotals epoch_totals_;
  std::optional<Evaluation> evaluation_;
  int64_t checked_step_ = 0;
  std::optional<int64_t> restored_size_;  // samples in a step of the checkpoint
  bool stopped_ = false;
  std::string stop_reason_;
};

}  // namespace kaiseki::nn
