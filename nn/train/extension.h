// SPDX-License-Identifier: MIT
// Extension: what a Trainer calls besides the updates: evaluation, checkpoints, logs, displays.
#pragma once

#include "nn/io/named_tensor.h"

namespace kaiseki::nn {

class Trainer;

class Extension {
 public:
  virtual ~Extension() = default;
  virtual void on_start(Trainer&) {}
  /// After each iteration.
  virtual void on_step(Trainer&) {}
  /// After the last iteration of an epoch, and after on_step().
  virtual void on_epoch(Trainer&) {}
  /// Once, when training is done or was stopped; not after an exception.
  virtual void on_finish(Trainer&) {}

  /// What a checkpoint must hold for this extension, under keys of its own.
  virtual void save(Metadata&) const {}
  /// May be called before on_start(); a missing key leaves the value as it is.
  virtual void restore(const Metadata&) {}
};

}  // namespace kaiseki::nn
