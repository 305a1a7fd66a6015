// SPDX-License-Identifier: MIT
// Iterator: minibatches of a data set, shuffled anew each epoch and made ready ahead of training on
// background threads. What it gives depends on the seed alone, never on the number of threads.
#pragma once

#include <cstdint>
#include <memory>

#include "nn/data/dataset.h"

namespace kaiseki::nn {

struct IteratorOptions {
  int64_t batch_size = 64;  // the last batch of an epoch holds the rest
  bool shuffle = true;
  bool repeat = true;  // false: one epoch, then next() gives false
  uint64_t seed = 0;
  int workers = 0;   // background threads; 0: a number that suits the machine
  int prefetch = 4;  // batches that may be ready ahead
};

/// Where an iterator stands; restoring it continues with the very next batch, bit for bit.
struct IteratorState {
  uint64_t seed = 0;
  int64_t epoch = 0;     // epochs given completely
  int64_t position = 0;  // samples of the present epoch that were given

  bool operator==(const IteratorState&) const = default;
};

class Iterator {
 public:
  /// Throws Error on an empty data set or a batch size below 1.
  Iterator(std::shared_ptr<const Dataset> dataset, const IteratorOptions& options);
  ~Iterator();
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  /// The next batch; false, and no batch, at the end when it does not repeat. What a background
  /// thread threw is thrown here, at the batch that it belongs to.
  bool next(Batch& batch);

  /// Whether the batch given last was the last one of its epoch.
  bool is_new_epoch() const;
  int64_t epoch() const { return state_.epoch; }
  int64_t position() const { return state_.position; }
  /// Epochs given, with the part of the present one.
  double epoch_detail() const;
  int64_t batches_per_epoch() const;
  int64_t batch_size() const;
  const Dataset& dataset() const { return *dataset_; }

  /// Seconds that next() has waited for batches to become ready. The first one after the start or
  /// restore() does not count: nothing could have made it ready ahead.
  double wait_seconds() const { return wait_seconds_; }

  IteratorState state() const { return state_; }
  /// Throws Error when the state does not fit the data set (position beyond its size).
  void restore(const IteratorState& state);

 private:
  struct Worker;

  std::shared_ptr<const Dataset> dataset_;
  IteratorOptions options_;
  IteratorState state_;
  bool is_new_epoch_ = false;
  double wait_seconds_ = 0;
  std::unique_ptr<Worker> worker_;
};

}  // namespace kaiseki::nn
