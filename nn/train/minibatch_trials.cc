// SPDX-License-Identifier: MIT
#include "nn/train/minibatch_trials.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <numeric>

#include "base/clock.h"
#include "base/error.h"
#include "matrix/memory/allocator.h"
#include "matrix/ops/copy.h"
#include "matrix/threads.h"
#include "nn/train/updater.h"

namespace kaiseki::nn {

UpdaterTrials::UpdaterTrials(Updater& updater)
    : updater_(updater),
      iterator_(updater.iterator().state()),
      batch_size_(updater.iterator().batch_size()),
      steps_(updater.optimizer().steps()),
      random_position_(updater.network().random_position()) {
  Network& network = updater.network();
  const auto keep = [&](const Tensor& place) { kept_.push_back({place, place.clone()}); };
  for (const Parameter& parameter : network.parameters()) keep(parameter.value);
  for (const State& state : network.states()) keep(state.value);
  for (const State& state : updater.optimizer().states(network.parameters())) keep(state.value);
}

UpdaterTrials::~UpdaterTrials() {
  restore();
  updater_.iterator().set_batch_size(batch_size_);
  updater_.network().device().memory().trim();
}

/// The gradients need no copy: the next iteration sets them to zero, or to a multiple of the
/// velocity, which is a state of the optimizer.
void UpdaterTrials::restore() {
  for (Kept& one : kept_) copy(one.value, one.place);
  updater_.optimizer().set_steps(steps_);
  updater_.network().set_random_position(random_position_);
  updater_.iterator().restore(iterator_);
}

std::optional<MinibatchTrials::Trial> UpdaterTrials::run(int64_t size, int iterations) {
  restore();
  updater_.iterator().set_batch_size(size);
  const Device device = updater_.network().device();
  const auto seconds_of_one = [&] {
    const double start = steady_seconds();
    updater_.update();
    device.synchronize();
    return steady_seconds() - start;
  };
  try {
    seconds_of_one();
    std::vector<double> times, uses;
    for (int i = 0; i < iterations; ++i) {
      const std::clock_t begin = std::clock();
      times.push_back(seconds_of_one());
      const double busy = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      uses.push_back(std::min(1.0, busy / (times.back() * thread_count())));
    }
    std::ranges::sort(uses, std::greater());
    uses.resize((uses.size() + 1) / 2);
    return Trial{
        .seconds = *std::ranges::min_element(times),
        .use = std::accumulate(uses.begin(), uses.end(), 0.0) / static_cast<double>(uses.size())};
  } catch (const OutOfMemory&) {
    updater_.network().device().memory().trim();
    return std::nullopt;
  }
}

int64_t UpdaterTrials::samples() const { return updater_.iterator().dataset().size(); }

}  // namespace kaiseki::nn
