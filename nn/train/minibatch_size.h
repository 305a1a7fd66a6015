// SPDX-License-Identifier: MIT
// The automatic size of a minibatch. Before training starts, a strategy runs a few iterations with
// several sizes and chooses one. They leave no trace in the run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "nn/train/extension.h"
#include "nn/train/minibatch_trials.h"
#include "nn/train/rate_scaling.h"

namespace kaiseki::nn {

/// The memory is too small for one sample.
class NoSizeFits : public Error {
 public:
  using Error::Error;
};

class MinibatchStrategy {
 public:
  virtual ~MinibatchStrategy() = default;
  /// Returns the size to train with. Starts at `start`. Throws NoSizeFits.
  virtual int64_t choose(MinibatchTrials& trials, int64_t start) = 0;
};

/// Fits the time of an iteration, a + c b for b samples, to at most 6 sizes. Chooses the smallest
/// size whose epoch takes at most 3 % more than the shortest. More than 3 sizes are tried only if
/// one of them differs from the fit by more than 5 %. The size is from a quarter of `start` to four
/// times `start`, because sizes outside this range need another recipe.
class FitEpochTime : public MinibatchStrategy {
 public:
  struct Probe {
    int64_t size;
    double seconds;  // of one iteration
  };

  int64_t choose(MinibatchTrials& trials, int64_t start) override;
  /// The probes of the last choose(), in the order of their sizes.
  const std::vector<Probe>& probes() const { return probes_; }

 private:
  bool probe(MinibatchTrials& trials, int64_t size);
  double seconds_of(int64_t size) const;
  std::optional<int64_t> middle_of_largest_gap() const;
  int64_t smallest_near_shortest(int64_t samples, bool good) const;
  bool refit();

  std::vector<Probe> probes_;
  int attempts_ = 0;
  double fixed_ = 0, each_ = 0;  // a and c
};

/// The paper's EpochTimeMinimize: enlarges the minibatch until the time of an epoch no longer
/// changes. A check every 5 rounds compares the last 5 rounds.
class EpochTimeMinimize : public MinibatchStrategy {
 public:
  int64_t choose(MinibatchTrials& trials, int64_t start) override;
  int rounds() const { return rounds_; }

 private:
  int rounds_ = 0;
};

/// The paper's GpuUsageMaximize: changes the minibatch until the device or the CPU's threads are in
/// use for 99 % of the time. choose() throws Error if an OpenCL device was opened without a
/// BusyTimeMeasurement (base/busy_time.h).
class UsageMaximize : public MinibatchStrategy {
 public:
  int64_t choose(MinibatchTrials& trials, int64_t start) override;
  int rounds() const { return rounds_; }

 private:
  int rounds_ = 0;
};

struct MinibatchSizeOptions {
  /// A higher learning rate is reached in even steps over the first epoch (Goyal et al. 2017,
  /// section 2.2).
  RateScaling scaling = RateScaling::square_root;
  std::function<bool()> stopped = {};  // true ends the trials and the training
};

/// Sets the size before the first iteration. A resumed run keeps the size of its checkpoint. If
/// there is no memory for the trials, the size stays. Do not use it for a training over a pool.
class MinibatchSizeOptimizer : public Extension {
 public:
  explicit MinibatchSizeOptimizer(std::unique_ptr<MinibatchStrategy> strategy,
                                  const MinibatchSizeOptions& options = {});
  void on_start(Trainer& trainer) override;
  void on_step(Trainer& trainer) override;
  void save(Metadata& state) const override;
  void restore(const Metadata& state) override;

  /// Empty before on_start().
  std::optional<int64_t> size() const { return size_; }

 private:
  int64_t choose(Updater& updater);
  void scale_rate(Updater& updater) const;

  std::unique_ptr<MinibatchStrategy> strategy_;
  MinibatchSizeOptions options_;
  std::optional<int64_t> size_;
  double factor_ = 1;  // factor of the learning rate after the first epoch
};

}  // namespace kaiseki::nn
