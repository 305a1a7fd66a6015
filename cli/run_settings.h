// SPDX-License-Identifier: MIT
// RunSettings: what the command line said, kept in the checkpoints, so that a run that is continued
// with other settings says so.
#pragma once

#include "cli/options.h"
#include "nn/train/extension.h"

namespace kaiseki::cli {

class RunSettings : public nn::Extension {
 public:
  explicit RunSettings(const TrainCommand& command);
  void save(nn::Metadata& state) const override;
  /// Warns when the checkpoint's settings are others.
  void restore(const nn::Metadata& state) override;

 private:
  nn::Metadata settings_;  // by option
};

}  // namespace kaiseki::cli
