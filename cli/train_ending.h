// SPDX-License-Identifier: MIT
// The end of kaiseki train: after the last epoch, after Ctrl-C, and after an error.
#pragma once

#include <filesystem>

#include "cli/options.h"
#include "cli/progress.h"
#include "cli/trace_file.h"
#include "cli/weights_info.h"
#include "nn/train/checkpoint.h"
#include "nn/train/metrics_log.h"
#include "nn/train/trainer.h"

namespace kaiseki::cli {

struct TrainRun {
  const TrainCommand& command;
  nn::Trainer& trainer;
  const std::filesystem::path& network_file;
  const WeightsInfo& info;
  const TraceFile& trace;
  const nn::Checkpointer* checkpointer = nullptr;
  const nn::MetricsLog* log = nullptr;
  const ProgressDisplay* progress = nullptr;
  bool weights_are_old = false;  // except after an epoch: ranks divide layers
  bool follows = false;          // another rank of the cluster saves the weights
};

/// Trains. After an error it saves the weights of the last step and throws the error. It does not
/// save weights that are not finite, or that are those of a trial.
void run(const TrainRun& run);

/// Saves the files of the options, and prints their names. Throws Error if one cannot be written.
void finish(const TrainRun& run);

}  // namespace kaiseki::cli
