// SPDX-License-Identifier: MIT
// Updater: one iteration of training. It reads one or more minibatches, runs the forward and
// backward passes, and runs a step of the optimizer. Derived classes compute the gradients in
// another way.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "nn/data/iterator.h"
#include "nn/network.h"
#include "nn/optimizer.h"
#include "nn/schedule.h"

namespace kaiseki::nn {

/// The weights and states are not those of the run. Restoring them after a trial failed.
class RunNotRestored : public Error {
 public:
  using Error::Error;
};

class Updater {
 public:
  /// The references must outlive this. Each iteration accumulates the gradients of `accumulate`
  /// minibatches, and of fewer at the end of an epoch. The step is then that of one minibatch with
  /// all samples, except in batch normalization. Throws Error if the schedule is not valid, or if
  /// `accumulate` is below 1.
  Updater(Network& network, Optimizer& optimizer, Iterator& iterator, const Schedule& schedule,
          int64_t accumulate = 1);

  virtual ~Updater() = default;

  /// The results for all minibatches of the iteration.
  struct Result {
    Tensor loss, output;  // on the network's device; reading them waits for the device
    Tensor labels;        // on the host
  };
  /// Does not wait for the device. Throws RunNotRestored as expect_restored() does.
  virtual Result update();

  /// The number of iterations so far, as counted by the optimizer.
  int64_t step() const { return optimizer_.steps(); }
  /// The learning rate of the next iteration.
  double learning_rate() const;
  /// From now on, multiplies the schedule's rates by `factor`.
  void scale_learning_rate(double factor) { rate_scale_ = factor; }
  double learning_rate_scale() const { return rate_scale_; }
  int64_t accumulate() const { return accumulate_; }
  /// The number of parts in which a whole minibatch runs because of the device's memory.
  int64_t parts() const { return parts_; }
  /// The next iteration chooses the parts again, by the memory that is then free.
  void choose_parts_again() {
    parts_of_size_.reset();
    batch_ = {};  // frees its memory
  }
  /// Returns whether update() depends on this process alone, so that steps can be repeated.
  virtual bool computes_alone() const { return true; }
  /// For RunSnapshot::restore(). The argument is the error that stopped restore(), or nullptr if
  /// everything was restored.
  void set_restore_error(std::exception_ptr error) { restore_error_ = std::move(error); }
  /// Throws RunNotRestored with the last error of set_restore_error(), if there is one. The weights
  /// must then not be trained or saved.
  void expect_restored() const;

  Network& network() { return network_; }
  Optimizer& optimizer() { return optimizer_; }
  Iterator& iterator() { return iterator_; }
  const Iterator& iterator() const { return iterator_; }
  /// The number of samples of the next iteration.
  int64_t samples_of_step() const;
  /// Adds the weights, their gradients and the optimizer's tensors. For code between iterations.
  void add_idle(IdleTensors& idle) const;

 protected:
  /// The next minibatch, valid until the next call. Throws Error at the end of the iterator.
  const Batch& next_batch();

 private:
  /// The sums and the outputs of the parts of an iteration so far.
  struct PartialSums {
    int64_t samples = 0, done = 0;
    uint64_t random_position = 0;
    Tensor loss = {};
    std::vector<Tensor> outputs = {}, labels = {};
  };
  /// Compute the gradients of an iteration.
  Result of_one_minibatch();
  Result accumulated();
  void add(const Batch& part, PartialSums& to);
  Tensor reserve_batches() const;
  void choose_parts();

  Network& network_;
  Optimizer& optimizer_;
  Iterator& iterator_;
  Schedule schedule_;
  int64_t accumulate_;
  int64_t parts_ = 1;
  std::optional<int64_t> parts_of_size_;  // the batch size that parts_ is for
  double rate_scale_ = 1;
  std::exception_ptr restore_error_;
  Batch batch_;
};

}  // namespace kaiseki::nn
