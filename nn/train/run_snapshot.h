// SPDX-License-Identifier: MIT
// RunSnapshot: a copy of everything that a step changes. It is in host memory, or in files if other
// tensors need the room there.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "matrix/memory/idle_tensors.h"
#include "nn/data/iterator.h"

namespace kaiseki::nn {

class Updater;

/// Use it in one thread.
class RunSnapshot {
 public:
  /// Copies the weights, the states, the optimizer, the random streams and the iterator's position.
  /// A second call reuses the memory.
  void keep(Updater& updater);
  /// Restores the run. The next step then has the same bits as after keep(). The gradients need no
  /// copy. The next step sets them to zero, or to a multiple of the optimizer's velocity.
  /// If restore() fails, it throws RunNotRestored. Updater::expect_restored() then throws until a
  /// later call succeeds.
  void restore(Updater& updater) const;

  /// The number of the optimizer's steps.
  int64_t step() const { return step_; }
  const IteratorState& iterator() const { return iterator_; }
  uint64_t bytes() const;

 private:
  std::vector<Tensor> values_;
  std::unique_ptr<IdleTensors> copies_;  // of values_
  IteratorState iterator_;
  uint64_t random_position_ = 0;
  int64_t step_ = 0;
};

}  // namespace kaiseki::nn
