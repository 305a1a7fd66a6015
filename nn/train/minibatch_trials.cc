// SPDX-License-Identifier: MIT
#include "nn/train/minibatch_trials.h"

#include <algorithm>
#include <ctime>
#include <exception>
#include <numeric>
#include <utility>
#include <vector>

#include "base/busy_time.h"
#include "base/clock.h"
#include "base/log.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/workspace.h"
#include "matrix/threads.h"
#include "nn/train/updater.h"

namespace kaiseki::nn {
namespace {

/// The mean of the upper half.
double upper_half(std::vector<double> values) {
  std::ranges::sort(values, std::greater());
  values.resize((values.size() + 1) / 2);
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The seconds so far in which the device computed. On the CPU, the mean of its threads. Nothing if
/// it is not measured.
std::optional<double> computing_seconds(Device device) {
  if (!device.is_cpu()) return busy_seconds(device.name());
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC / thread_count();
}

}  // namespace

UpdaterTrials::UpdaterTrials(Updater& updater, std::function<bool()> stopped)
    : updater_(updater),
      stopped_(std::move(stopped)),
      batch_size_(updater.iterator().batch_size()),
      workspace_(updater.network().device().workspace().size()) {
  if (!updater.computes_alone())
    throw Error(message("batch size", "automatic sizes need a training on this machine alone"));
  before_.keep(updater);
}

UpdaterTrials::~UpdaterTrials() {
  if (restored_) return;
  try {
    restore();
  } catch (const std::exception& error) {
    log_warning(error.what());
  }
}

void UpdaterTrials::restore() {
  const Device device = updater_.network().device();
  before_.restore(updater_);
  updater_.iterator().set_batch_size(batch_size_);
  updater_.choose_parts_again();
  device.memory().trim();
  if (Allocator* store = device.memory().backing()) store->trim();  // files of other sizes
  device.workspace().restart(workspace_);
  device.memory().reset_peak();
  restored_ = true;
}

double UpdaterTrials::seconds_of_step() {
  if (stopped_ && stopped_()) throw TrialsStopped(message("batch size", "stopped"));
  const double start = steady_seconds();
  updater_.update();
  updater_.network().device().synchronize();
  return steady_seconds() - start;
}

std::optional<MinibatchTrials::Trial> UpdaterTrials::run(int64_t size, int iterations) {
  restored_ = false;
  before_.restore(updater_);
  updater_.iterator().set_batch_size(size);
  const int64_t whole = std::min(size * updater_.accumulate(), samples());
  try {
    const BusyTimeMeasurement measured;
    const Device device = updater_.network().device();
    seconds_of_step();
    std::vector<double> times, uses;
    while (std::ssize(times) < iterations) {
      const bool counts = updater_.samples_of_step() == whole;
      const std::optional<double> begin = computing_seconds(device);
      const double seconds = seconds_of_step();
      if (!counts) continue;
      times.push_back(seconds);
      if (begin) uses.push_back(std::min(1.0, (*computing_seconds(device) - *begin) / seconds));
    }
    const double minibatches = static_cast<double>(whole) / static_cast<double>(size);
    Trial trial{.seconds = *std::ranges::min_element(times) / minibatches};
    if (!uses.empty()) trial.use = upper_half(std::move(uses));
    return trial;
  } catch (const OutOfMemory&) {
    updater_.network().device().memory().trim();
    return std::nullopt;
  }
}

int64_t UpdaterTrials::samples() const { return updater_.iterator().dataset().size(); }

}  // namespace kaiseki::nn
