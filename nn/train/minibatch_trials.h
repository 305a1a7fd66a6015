// SPDX-License-Identifier: MIT
// Trials of minibatch sizes. They leave no trace in the run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/error.h"
#include "nn/train/run_snapshot.h"

namespace kaiseki::nn {

class Updater;

/// The user stopped the trials.
class TrialsStopped : public Error {
 public:
  using Error::Error;
};

/// A strategy (nn/train/minibatch_size.h) measures through this interface. Tests simulate devices.
class MinibatchTrials {
 public:
  struct Trial {
    double seconds;  // the shortest time of one minibatch
    /// The use of the CPU's threads, or of another device, from 0 to 1. It is the mean of the upper
    /// half of iterations. Nothing if the device does not measure it (base/busy_time.h).
    std::optional<double> use = {};
  };

  virtual ~MinibatchTrials() = default;
  /// Runs 1 or more iterations of this size. Returns nothing if they do not fit the memory.
  virtual std::optional<Trial> run(int64_t size, int iterations) = 0;
  /// The number of samples of an epoch.
  virtual int64_t samples() const = 0;
};

/// Trials with an updater. After them, restore() restores the run bit for bit. Only measurements of
/// the tuner stay.
class UpdaterTrials : public MinibatchTrials {
 public:
  /// `updater` must live as long as this. If `stopped` returns true, run() throws TrialsStopped.
  explicit UpdaterTrials(Updater& updater, std::function<bool()> stopped = {});
  /// Calls restore() if no call followed the last run(), as after an exception. If restore() fails,
  /// logs its error. The next step of the run then throws RunNotRestored.
  ~UpdaterTrials() override;
  UpdaterTrials(const UpdaterTrials&) = delete;

  /// The first iteration of a size is not counted, because it measures convolutions. A shorter one
  /// at the end of an epoch is not counted either.
  std::optional<Trial> run(int64_t size, int iterations) override;
  int64_t samples() const override;
  /// Restores the run (RunSnapshot) and the size of the workspace. Throws RunNotRestored.
  void restore();

 private:
  double seconds_of_step();

  Updater& updater_;
  std::function<bool()> stopped_;
  RunSnapshot before_;
  int64_t batch_size_;
  uint64_t workspace_;
  bool restored_ = true;
};

}  // namespace kaiseki::nn
