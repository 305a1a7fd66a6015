// SPDX-License-Identifier: MIT
// Trials of minibatch sizes, which leave no trace in the run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nn/data/iterator.h"
#include "nn/parameter.h"

namespace kaiseki::nn {

class Updater;

/// A strategy (nn/train/minibatch_size.h) measures through this interface. Tests simulate devices.
class MinibatchTrials {
 public:
  struct Trial {
    double seconds;  // the least of one iteration
    double use;      // of the CPU's threads, from 0 to 1: the mean of the upper half of iterations
  };

  virtual ~MinibatchTrials() = default;
  /// Runs 1 or more iterations of this size. Returns nothing if they do not fit the memory.
  virtual std::optional<Trial> run(int64_t size, int iterations) = 0;
  /// Of an epoch.
  virtual int64_t samples() const = 0;
};

/// Trials with an updater. The destructor restores the weights, the states, the optimizer, the
/// random streams and the iterator, bit for bit. Only measurements of the tuner stay.
class UpdaterTrials : public MinibatchTrials {
 public:
  /// `updater` must live as long as this. Copies its weights and states.
  explicit UpdaterTrials(Updater& updater);
  ~UpdaterTrials() override;
  UpdaterTrials(const UpdaterTrials&) = delete;

  /// The first iteration of a size is not counted, because it measures convolutions.
  std::optional<Trial> run(int64_t size, int iterations) override;
  int64_t samples() const override;

 private:
  void restore();

  struct Kept {
    Tensor place, value;
  };
  Updater& updater_;
  std::vector<Kept> kept_;
  IteratorState iterator_;
  int64_t batch_size_, steps_;
  uint64_t random_position_;
};

}  // namespace kaiseki::nn
