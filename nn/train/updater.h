// SPDX-License-Identifier: MIT
// Updater: one iteration of training. It reads a batch, runs the forward and backward pass, and
// runs a step of the optimizer. Derived classes compute the gradients in another way.
#pragma once

#include <cstdint>

#include "nn/data/iterator.h"
#include "nn/network.h"
#include "nn/optimizer.h"
#include "nn/schedule.h"

namespace kaiseki::nn {

class Updater {
 public:
  /// All three must live as long as this. Throws Error if the schedule is not valid.
  Updater(Network& network, Optimizer& optimizer, Iterator& iterator, const Schedule& schedule);

  virtual ~Updater() = default;

  struct Result {
    Tensor loss, output;  // on the network's device; reading them waits for the device
    Tensor labels;        // on the host
  };
  /// Does not wait for the device.
  virtual Result update();

  /// The number of iterations so far, as counted by the optimizer.
  int64_t step() const { return optimizer_.steps(); }
  /// The learning rate of the next iteration.
  double learning_rate() const { return schedule_.at(step()); }

  Network& network() { return network_; }
  Optimizer& optimizer() { return optimizer_; }
  Iterator& iterator() { return iterator_; }
  const Iterator& iterator() const { return iterator_; }

 protected:
  /// The next minibatch, valid until the next call. Throws Error at the end of the iterator.
  const Batch& next_batch();

 private:
  Network& network_;
  Optimizer& optimizer_;
  Iterator& iterator_;
  Schedule schedule_;
  Batch batch_;
};

}  // namespace kaiseki::nn
