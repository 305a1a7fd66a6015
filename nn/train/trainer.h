// SPDX-License-Identifier: MIT
// Trainer: the loop of training. It calls the updater until the epochs are done, and its
// extensions on the way; it watches that the loss stays a number.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/train/diverged.h"
#include "nn/train/evaluator.h"
#include "nn/train/extension.h"
#include "nn/train/metrics.h"
#include "nn/train/updater.h"

namespace kaiseki::nn {

struct TrainerOptions {
  int64_t epochs = 1;
  uint64_t seed = 0;        // that the network was initialised with; checkpoints hold it
  int64_t check_every = 0;  // steps between looks at the loss; 0: 1 on the CPU, 16 elsewhere
};

class Trainer {
 public:
  /// The updater must live as long as this.
  Trainer(Updater& updater, const TrainerOptions& options);

  /// Extensions are called in the order in which they were added.
  Extension& extend(std::unique_ptr<Extension> extension);

  /// Runs until options().epochs epochs are done, counted from the very start of training, or until
  /// stop(). Throws Diverged, and what the data set, the network and the extensions throw.
  void run();
  /// Ends run() after this iteration. Not for signal handlers: let an extension look at a flag.
  void stop(std::string reason);
  /// Why run() ended before its time; empty when it did not.
  const std::string& stop_reason() const { return stop_reason_; }

  const TrainerOptions& options() const { return options_; }
  Updater& updater() { return updater_; }
  /// Iterations, and epochs done completely.
  int64_t step() const { return updater_.step(); }
  int64_t epoch() const { return updater_.iterator().epoch(); }

  /// Loss and accuracy in training, of the present epoch so far; waits for the device.
  const MetricTotals& running_totals();
  /// Of the last complete epoch.
  const MetricTotals& epoch_totals() const { return epoch_totals_; }
  /// Of the epoch that ended last; empty where the Evaluator left it out.
  const std::optional<Evaluation>& evaluation() const { return evaluation_; }
  void set_evaluation(Evaluation evaluation) { evaluation_ = std::move(evaluation); }

  /// Everything but tensors that a checkpoint holds.
  Metadata state();
  /// Throws Error naming the key when the state does not fit this run.
  void check(const Metadata& state) const;
  /// After check(). The tensors must be restored after it, since it initialises the network anew.
  void restore(const Metadata& state);

 private:
  void check_loss();

  Updater& updater_;
  TrainerOptions options_;
  std::vector<std::unique_ptr<Extension>> extensions_;
  Metrics metrics_;
  MetricTotals epoch_totals_;
  std::optional<Evaluation> evaluation_;
  int64_t checked_step_ = 0;
  bool stopped_ = false;
  std::string stop_reason_;
};

}  // namespace kaiseki::nn
