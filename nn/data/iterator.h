// SPDX-License-Identifier: MIT
// Iterator: minibatches of a data set, shuffled in each epoch. Background threads prepare them
// ahead of training. The batches depend on the seed, not on the number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "nn/data/dataset.h"

namespace kaiseki::nn {

/// A part of each batch. Batches are divided evenly, in order.
struct BatchShare {
  int index = 0, parts = 1;

  int64_t first(int64_t batch) const { return batch * index / parts; }
  int64_t count(int64_t batch) const { return batch * (index + 1) / parts - first(batch); }
  bool operator==(const BatchShare&) const = default;
};

struct IteratorOptions {
  int64_t batch_size = 64;  // the last batch of an epoch holds the rest
  bool shuffle = true;
  bool repeat = true;  // false: next() returns false after one epoch
  uint64_t seed = 0;
  /// Background threads. Without a value: half of the hardware threads, 1 to 8.
  std::optional<int> workers = {};
  int prefetch = 4;    // batches prepared ahead, at least workers + 1
  bool files = false;  // also reads Batch::files
  /// next() returns this part of each batch, which may be empty. All else counts whole batches.
  BatchShare share = {};
};

/// The position of an iterator. A restored iterator continues with the next batch, bit for bit.
struct IteratorState {
  uint64_t seed = 0;
  int64_t epoch = 0;     // complete epochs so far
  int64_t position = 0;  // samples of the current epoch that next() has returned

  bool operator==(const IteratorState&) const = default;
};

class Iterator {
 public:
  /// Throws Error on an empty data set or a batch size below 1.
  Iterator(std::shared_ptr<const Dataset> dataset, const IteratorOptions& options);
  ~Iterator();
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  /// Gets the next batch. Without `repeat`, returns false at the end of the epoch. Rethrows the
  /// exception of a background thread for this batch.
  bool next(Batch& batch);

  /// Whether the last call of next() returned the last batch of an epoch.
  bool is_new_epoch() const;
  int64_t epoch() const { return state_.epoch; }
  int64_t position() const { return state_.position; }
  /// Complete epochs, plus the fraction of the current epoch.
  double epoch_detail() const;
  int64_t batches_per_epoch() const;
  int64_t batch_size() const;
  const BatchShare& share() const { return options_.share; }
  /// Takes effect with the next batch. No sample is lost or repeated. Throws Error below 1.
  void set_batch_size(int64_t batch_size);
  const Dataset& dataset() const { return *dataset_; }
  /// The most bytes of batches at a time: those that are prepared, and the last one of next().
  uint64_t most_bytes() const;

  /// Seconds that next() has waited for batches. The first batch after the start, restore() or
  /// set_batch_size() does not count, because it cannot be prepared ahead.
  double wait_seconds() const { return wait_seconds_; }

  IteratorState state() const { return state_; }
  /// Throws Error if the position is beyond the data set's size.
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
