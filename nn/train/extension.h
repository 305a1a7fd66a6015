// SPDX-License-Identifier: MIT
// Extension: a Trainer calls it between updates. Evaluation, checkpoints, logs and displays are
// extensions.
#pragma once

#include "nn/io/named_tensor.h"

namespace kaiseki::nn {

class Trainer;

class Extension {
 public:
  virtual ~Extension() = default;
  virtual void on_start(Trainer&) {}
  /// Called after each iteration.
  virtual void on_step(Trainer&) {}
  /// Called after on_step() of the last iteration of an epoch.
  virtual void on_epoch(Trainer&) {}
  /// Called once, after training is done or stopped. Not called after an exception.
  virtual void on_finish(Trainer&) {}

  /// Adds the state of this extension to a checkpoint, under its own keys.
  virtual void save(Metadata&) const {}
  /// May be called before on_start(). A missing key does not change the value.
  virtual void restore(const Metadata&) {}
};

}  // namespace kaiseki::nn
