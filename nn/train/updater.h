// SPDX-License-Identifier: MIT
// Updater: one iteration of training: a batch, forward, backward, a step of the optimizer. Others
// derive from it to compute the gradients elsewhere.
#pragma once

#include <cstdint>

#include "nn/data/iterator.h"
#include "nn/network.h"
#include "nn/optimizer.h"
#include "nn/schedule.h"

namespace kaiseki::nn {

class Updater {
 public:
  /// All three must live as long as this. Throws Error when the schedule is not well formed.
  Updater(Network& network, Optimizer& optimizer, Iterator& iterator, const Schedule& schedule);

  virtual ~Updater() = default;

  struct Result {
    Tensor loss, output;  // on the network's device; reading them waits for it
    Tensor labels;        // on the host
  };
  /// Does not wait for the device.
  virtual Result update();

  /// Iterations so far; the optimizer counts them.
  int64_t step() const { return optimizer_.steps(); }
  /// Of the next iteration.
  double learning_rate() const { return schedule_.at(step()); }

  Network& network() { return network_; }
  Optimizer& optimizer() { return optimizer_; }
  Iterator& iterator() { return iterator_; }
  const Iterator& iterator() const { return iterator_; }

 protected:
  /// The next minibatch, which stays until the one after it. Throws Error at the iterator's end.
  const Batch& next_batch();

 private:
  Network& network_;
  Optimizer& optimizer_;
  Iterator& iterator_;
  Schedule schedule_;
  Batch batch_;
};

}  // namespace kaiseki::nn
