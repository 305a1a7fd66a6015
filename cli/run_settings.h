// SPDX-License-Identifier: MIT
// RunSettings: the command line's settings in a checkpoint, so that a run that is resumed with
// other settings warns.
#pragma once

#include "cli/options.h"
#include "nn/train/extension.h"

namespace kaiseki::cli {

class RunSettings : public nn::Extension {
 public:
  /// `recipe` is complete.
  RunSettings(const TrainCommand& command, const nn::Recipe& recipe);
  void save(nn::Metadata& state) const override;
  /// Warns if the checkpoint has other settings.
  void restore(const nn::Metadata& state) override;

 private:
  nn::Metadata settings_;  // by option
};

}  // namespace kaiseki::cli
