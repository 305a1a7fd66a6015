// SPDX-License-Identifier: MIT
#include "nn/train/minibatch_size.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "nn/train/state_text.h"
#include "nn/train/trainer.h"

namespace kaiseki::nn {
namespace {

constexpr int kMostAttempts = 6;
/// The ratio of `start` to the smallest size that is tried, and of the largest size to `start`.
constexpr int64_t kFar = 4;
constexpr double kGoodFit = 0.05, kNearShortest = 0.03;
/// The constants of the paper's strategies.
constexpr int kMostRounds = 100, kIterations = 3;
constexpr size_t kRoundsOfCheck = 5;
constexpr double kUseTarget = 0.99, kTimeTolerance = 0.05;
constexpr double kSizeTolerance = 5;

/// Returns `smallest`, the numbers 2^n and 3 * 2^n up to `largest`, and `largest`.
std::vector<int64_t> candidates(int64_t smallest, int64_t largest) {
  std::vector<int64_t> sizes = {smallest};
  for (int64_t power = 2; power < largest; power *= 2)
    for (int64_t size : {power, power / 2 * 3})
      if (size > smallest && size < largest) sizes.push_back(size);
  if (largest > smallest) sizes.push_back(largest);
  return sizes;
}

/// Halves the size until it fits the memory.
template <class Fits>
int64_t fitting_size(int64_t start, const MinibatchTrials& trials, const Fits& fits) {
  int64_t size = std::clamp<int64_t>(start, 1, trials.samples());
  while (!fits(size)) {
    if (size == 1)
      throw NoSizeFits(message("batch size", "expected memory for one sample, got too little"));
    size /= 2;
  }
  return size;
}

double iterations_of_epoch(int64_t samples, int64_t size) {
  return std::ceil(static_cast<double>(samples) / static_cast<double>(size));
}

/// Returns whether the paper's strategies end. Every 5 rounds, compares the change of the last 5
/// figures with the tolerance.
bool has_settled(const std::vector<double>& figures, double tolerance) {
  if (figures.empty() || figures.size() % kRoundsOfCheck != 0) return false;
  return std::abs(figures.back() - figures[figures.size() - kRoundsOfCheck]) <= tolerance;
}

/// The step by which the paper's strategies change the size. It grows while its direction stays.
class GrowingStep {
 public:
  int64_t next(int64_t size, bool larger, int64_t most) {
    step_ = larger == larger_ ? step_ + 1 : 1;
    larger_ = larger;
    return std::clamp<int64_t>(size + (larger ? step_ : -step_), 1, most);
  }

 private:
  int64_t step_ = 0;
  bool larger_ = true;
};

}  // namespace

bool FitEpochTime::probe(MinibatchTrials& trials, int64_t size) {
  ++attempts_;
  const std::optional<MinibatchTrials::Trial> trial = trials.run(size, size <= 64 ? 3 : 1);
  if (!trial) return false;
  probes_.push_back({size, trial->seconds});
  std::ranges::sort(probes_, {}, &Probe::size);
  return true;
}

/// Least squares of the relative errors. Returns whether all of them are small.
bool FitEpochTime::refit() {
  double ww = 0, wx = 0, xx = 0, wy = 0, xy = 0;
  for (const Probe& probe : probes_) {
    const double w = 1 / probe.seconds, x = w * static_cast<double>(probe.size);
    ww += w * w, wx += w * x, xx += x * x, wy += w, xy += x;
  }
  const double determinant = ww * xx - wx * wx;
  if (probes_.size() == 1 || determinant <= 0) {
    fixed_ = 0, each_ = xy / xx;
  } else {
    fixed_ = std::max(0.0, (wy * xx - wx * xy) / determinant);
    each_ = fixed_ > 0 ? (ww * xy - wx * wy) / determinant : xy / xx;
  }
  return std::ranges::all_of(probes_, [&](const Probe& probe) {
    const double fit = fixed_ + each_ * static_cast<double>(probe.size);
    return std::abs(fit - probe.seconds) <= kGoodFit * probe.seconds;
  });
}

/// The seconds of an iteration for a size from the smallest to the largest probe. Between two
/// probes, interpolates the seconds for one sample.
double FitEpochTime::seconds_of(int64_t size) const {
  const auto size_of = [](const Probe& probe) { return static_cast<double>(probe.size); };
  const auto after =
      std::ranges::find_if(probes_, [&](const Probe& probe) { return probe.size >= size; });
  const auto wanted = static_cast<double>(size);
  if (after->size == size) return after->seconds;
  const Probe &low = *std::prev(after), &high = *after;
  const double part = std::log(wanted / size_of(low)) / std::log(size_of(high) / size_of(low));
  return wanted * std::lerp(low.seconds / size_of(low), high.seconds / size_of(high), part);
}

int64_t FitEpochTime::choose(MinibatchTrials& trials, int64_t start) {
  probes_.clear();
  attempts_ = 0;
  const int64_t size = fitting_size(start, trials, [&](int64_t one) { return probe(trials, one); });
  // Far smaller and far larger sizes show the fixed part of the time.
  for (int64_t other : {size / kFar, std::min(size * kFar, trials.samples())})
    if (other >= 1 && other != size) probe(trials, other);
  bool good = refit();
  while (!good && attempts_ < kMostAttempts) {
    const auto between = middle_of_largest_gap();
    if (!between || !probe(trials, *between)) break;
    good = refit();
  }
  return smallest_near_shortest(trials.samples(), good);
}

std::optional<int64_t> FitEpochTime::middle_of_largest_gap() const {
  constexpr double kLeastGap = 1.5;
  std::optional<int64_t> middle;
  double gap = kLeastGap;
  for (size_t i = 0; i + 1 < probes_.size(); ++i) {
    const auto low = static_cast<double>(probes_[i].size);
    const double ratio = static_cast<double>(probes_[i + 1].size) / low;
    if (ratio <= gap) continue;
    gap = ratio;
    middle = std::llround(low * std::sqrt(ratio));
  }
  return middle;
}

/// Considers only sizes between the probes. Others may not fit the memory, or may change the
/// training too much.
int64_t FitEpochTime::smallest_near_shortest(int64_t samples, bool good) const {
  const auto epoch = [&](int64_t b) {
    const double seconds = good ? fixed_ + each_ * static_cast<double>(b) : seconds_of(b);
    return seconds * iterations_of_epoch(samples, b);
  };
  const std::vector<int64_t> sizes = candidates(probes_.front().size, probes_.back().size);
  double shortest = epoch(sizes[0]);
  for (int64_t b : sizes) shortest = std::min(shortest, epoch(b));
  return *std::ranges::find_if(
      sizes, [&](int64_t b) { return epoch(b) <= (1 + kNearShortest) * shortest; });
}

int64_t EpochTimeMinimize::choose(MinibatchTrials& trials, int64_t start) {
  GrowingStep step;
  const int64_t most = trials.samples();
  std::optional<MinibatchTrials::Trial> trial;
  const auto fits = [&](int64_t one) { return (trial = trials.run(one, kIterations)).has_value(); };
  int64_t size = fitting_size(start, trials, fits);
  const double first = trial->seconds * iterations_of_epoch(most, size);
  std::vector<double> figures;
  for (rounds_ = 0; rounds_ < kMostRounds && !has_settled(figures, kTimeTolerance); ++rounds_) {
    const int64_t larger = step.next(size, true, most);
    if (larger == size || !fits(larger)) return size;
    size = larger;
    figures.push_back(trial->seconds * iterations_of_epoch(most, size) / first);
  }
  return size;
}

int64_t UsageMaximize::choose(MinibatchTrials& trials, int64_t start) {
  GrowingStep step;
  std::optional<MinibatchTrials::Trial> trial;
  const auto fits = [&](int64_t one) { return (trial = trials.run(one, kIterations)).has_value(); };
  int64_t most = trials.samples(), size = fitting_size(start, trials, fits);
  std::vector<double> sizes;
  for (rounds_ = 0; rounds_ < kMostRounds && !has_settled(sizes, kSizeTolerance); ++rounds_) {
    if (!trial->use)
      throw Error(message("batch size",
                          "expected a device that measures its busy time, got one that was opened "
                          "without a BusyTimeMeasurement"));
    const int64_t next = step.next(size, *trial->use < kUseTarget, most);
    if (fits(next)) {
      size = next;
    } else {  // stays at the largest size that fits
      most = size;
      if (!fits(size)) return size;
    }
    sizes.push_back(static_cast<double>(size));
  }
  return size;
}

MinibatchSizeOptimizer::MinibatchSizeOptimizer(std::unique_ptr<MinibatchStrategy> strategy,
                                               const MinibatchSizeOptions& options)
    : strategy_(std::move(strategy)), options_(options) {
  if (!strategy_) throw Error(message("batch size", "expected a strategy, got none"));
}

void MinibatchSizeOptimizer::on_start(Trainer& trainer) {
  Updater& updater = trainer.updater();
  if (options_.scaling == RateScaling::none) updater.scale_learning_rate(1);
  if (trainer.epoch() >= trainer.options().epochs) return;
  if (!size_) try {
      const int64_t given = updater.iterator().batch_size();
      size_ = choose(updater);
      const double ratio = static_cast<double>(*size_) / static_cast<double>(given);
      factor_ = rate_factor(options_.scaling, ratio);
    } catch (const TrialsStopped&) {
      updater.expect_restored();
      return trainer.stop("interrupted");
    }
  updater.iterator().set_batch_size(*size_);
  scale_rate(updater);
}

void MinibatchSizeOptimizer::on_step(Trainer& trainer) {
  if (size_) scale_rate(trainer.updater());
}

void MinibatchSizeOptimizer::scale_rate(Updater& updater) const {
  if (options_.scaling == RateScaling::none) return;
  const double done = factor_ > 1 ? std::min(1.0, updater.iterator().epoch_detail()) : 1;
  updater.scale_learning_rate(std::lerp(1.0, factor_, done));
}

/// The trials need memory for a copy of the weights, which a training does not need.
int64_t MinibatchSizeOptimizer::choose(Updater& updater) {
  const int64_t given = updater.iterator().batch_size();
  try {
    UpdaterTrials trials(updater, options_.stopped);
    const int64_t size = strategy_->choose(trials, given);
    trials.restore();
    return size;
  } catch (const OutOfMemory&) {
  } catch (const NoSizeFits&) {
  }
  updater.expect_restored();  // the destructor of the trials has restored it, or failed
  log_warning("the device has too little memory to try batch sizes. The size stays " +
              std::to_string(given));
  return given;
}

void MinibatchSizeOptimizer::save(Metadata& state) const {
  if (!size_) return;
  put(state, "minibatch.size", *size_);
  put(state, "minibatch.rate_factor", factor_);
}

void MinibatchSizeOptimizer::restore(const Metadata& state) {
  if (!state.contains("minibatch.size")) return;
  size_ = get<int64_t>(state, "minibatch.size");
  factor_ = get<double>(state, "minibatch.rate_factor");
}

}  // namespace kaiseki::nn
