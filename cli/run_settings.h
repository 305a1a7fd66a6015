// SPDX-License-Identifier: MIT
// RunSettings: stores the command line's settings in a checkpoint. A run that is resumed with other
// settings then warns.
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
