// SPDX-License-Identifier: MIT
#include "nn/train/minibatch_size.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "nn/train/state_text.h"
#include "nn/train/trainer.h"

namespace kaiseki::nn {
namespace {

constexpr size_t kMostProbes = 6;
constexpr int64_t kLargestRatio = 4;
constexpr double kGoodFit = 0.05, kNearShortest = 0.03;
/// Of the paper's strategies.
constexpr int kMostRounds = 100, kRoundsOfCheck = 5, kIterations = 3;
constexpr double kUseTarget = 0.99, kTimeTolerance = 0.05;
constexpr int64_t kSizeTolerance = 5;

/// 1, 2, 3, 4, 6, 8, 12, 16, ..., `largest`: sizes of which one is near every size.
std::vector<int64_t> candidates(int64_t largest) {
  std::vector<int64_t> sizes;
  for (int64_t power = 1; power < largest; power *= 2) {
    sizes.push_back(power);
    if (power % 2 == 0 && power / 2 * 3 < largest) sizes.push_back(power / 2 * 3);
  }
  sizes.push_back(largest);
  return sizes;
}

double iterations_of_epoch(int64_t samples, int64_t size) {
  return std::ceil(static_cast<double>(samples) / static_cast<double>(size));
}

/// The change of the minibatch in the paper's strategies: it grows while its direction stays.
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
  const int iterations = size <= 64 ? 3 : 1;
  const std::optional<MinibatchTrials::Trial> trial = trials.run(size, iterations);
  if (!trial) return false;
  probes_.push_back({size, trial->seconds});
  std::ranges::sort(probes_, {}, &Probe::size);
  return true;
}

/// Least squares of the relative errors. Returns whether all of them are small.
bool FitEpochTime::fits_well() {
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

/// Between two probes, interpolates the seconds for one sample.
double FitEpochTime::seconds_of(int64_t size) const {
  const auto size_of = [](const Probe& probe) { return static_cast<double>(probe.size); };
  const auto after =
      std::ranges::find_if(probes_, [&](const Probe& probe) { return probe.size >= size; });
  const double wanted = static_cast<double>(size);
  if (after != probes_.end() && after->size == size) return after->seconds;
  if (after == probes_.begin() || after == probes_.end()) {
    const Probe& near = after == probes_.begin() ? probes_.front() : probes_.back();
    return (fixed_ + each_ * wanted) * near.seconds / (fixed_ + each_ * size_of(near));
  }
  const Probe &low = *std::prev(after), &high = *after;
  const double part = std::log(wanted / size_of(low)) / std::log(size_of(high) / size_of(low));
  return wanted * std::lerp(low.seconds / size_of(low), high.seconds / size_of(high), part);
}

int64_t FitEpochTime::choose(MinibatchTrials& trials, int64_t start) {
  probes_.clear();
  int64_t most = std::min(kLargestRatio * start, trials.samples());
  int64_t size = std::clamp<int64_t>(start, 1, most);
  while (!probe(trials, size)) {
    if (size == 1)
      throw Error(message("batch size", "expected memory for one sample, got too little"));
    most = size - 1;
    size /= 2;
  }
  // Far smaller and far larger sizes show the fixed part of the time.
  for (int64_t other : {size / 4, size * 4}) {
    other = std::clamp<int64_t>(other, 1, most);
    const bool known = std::ranges::find(probes_, other, &Probe::size) != probes_.end();
    if (!known && !probe(trials, other)) most = other - 1;
  }
  bool good = fits_well();
  while (!good && probes_.size() < kMostProbes) {
    // Divides the largest gap, beyond the largest probe included.
    int64_t best = 0;
    double gap = 1.5;
    for (size_t i = 0; i < probes_.size(); ++i) {
      const int64_t low = probes_[i].size;
      const int64_t high = i + 1 < probes_.size() ? probes_[i + 1].size : most;
      const double ratio = static_cast<double>(high) / static_cast<double>(low);
      if (ratio <= gap) continue;
      gap = ratio;
      best = i + 1 < probes_.size() ? std::llround(static_cast<double>(low) * std::sqrt(ratio))
                                    : std::min(most, 4 * low);
    }
    if (best == 0) break;
    if (!probe(trials, best)) most = best - 1;
    good = fits_well();
  }
  // Nothing is known of the memory for sizes beyond the probes.
  return smallest_near_shortest(trials.samples(), std::min(most, probes_.back().size), good);
}

int64_t FitEpochTime::smallest_near_shortest(int64_t samples, int64_t most, bool good) const {
  const auto epoch = [&](int64_t b) {
    const double seconds = good ? fixed_ + each_ * static_cast<double>(b) : seconds_of(b);
    return seconds * iterations_of_epoch(samples, b);
  };
  const std::vector<int64_t> sizes = candidates(most);
  double shortest = epoch(sizes[0]);
  for (int64_t b : sizes) shortest = std::min(shortest, epoch(b));
  return *std::ranges::find_if(
      sizes, [&](int64_t b) { return epoch(b) <= (1 + kNearShortest) * shortest; });
}

int64_t EpochTimeMinimize::choose(MinibatchTrials& trials, int64_t start) {
  GrowingStep step;
  const int64_t most = trials.samples();
  int64_t size = std::clamp<int64_t>(start, 1, most), last = size;
  std::vector<double> figures;
  double first = 0;
  for (rounds_ = 1; rounds_ <= kMostRounds; ++rounds_) {
    const auto trial = trials.run(size, kIterations);
    if (!trial) return last;
    last = size;
    const double epoch = trial->seconds * iterations_of_epoch(most, size);
    if (rounds_ == 1) first = epoch;
    figures.push_back(epoch / first);
    if (rounds_ % kRoundsOfCheck == 0) {
      const auto [low, high] = std::minmax_element(figures.end() - kRoundsOfCheck, figures.end());
      if (*high - *low <= kTimeTolerance) return size;
    }
    size = step.next(size, true, most);
  }
  return last;
}

int64_t UsageMaximize::choose(MinibatchTrials& trials, int64_t start) {
  GrowingStep step;
  int64_t most = trials.samples(), size = std::clamp<int64_t>(start, 1, most);
  std::vector<int64_t> sizes;
  for (rounds_ = 1; rounds_ <= kMostRounds; ++rounds_) {
    const auto trial = trials.run(size, kIterations);
    if (trial) sizes.push_back(size);
    if (!trial) most = std::max<int64_t>(1, size - 1);
    if (sizes.size() >= kRoundsOfCheck && rounds_ % kRoundsOfCheck == 0) {
      const auto [low, high] = std::minmax_element(sizes.end() - kRoundsOfCheck, sizes.end());
      if (*high - *low <= kSizeTolerance) return size;
    }
    size = step.next(std::min(size, most), trial && trial->use < kUseTarget, most);
  }
  return sizes.empty() ? 1 : sizes.back();
}

MinibatchSizeOptimizer::MinibatchSizeOptimizer(std::unique_ptr<MinibatchStrategy> strategy,
                                               bool scales_rate)
    : strategy_(std::move(strategy)), scales_rate_(scales_rate) {}

void MinibatchSizeOptimizer::on_start(Trainer& trainer) {
  Iterator& iterator = trainer.updater().iterator();
  if (!size_) {
    const auto given = static_cast<double>(iterator.batch_size());
    UpdaterTrials trials(trainer.updater());
    size_ = strategy_->choose(trials, iterator.batch_size());
    if (scales_rate_) rate_scale_ = std::sqrt(static_cast<double>(*size_) / given);
  }
  iterator.set_batch_size(*size_);
  trainer.updater().scale_learning_rate(rate_scale_);
}

void MinibatchSizeOptimizer::save(Metadata& state) const {
  if (!size_) return;
  put(state, "minibatch.size", *size_);
  put(state, "minibatch.rate_scale", rate_scale_);
}

void MinibatchSizeOptimizer::restore(const Metadata& state) {
  if (!state.contains("minibatch.size")) return;
  size_ = get<int64_t>(state, "minibatch.size");
  rate_scale_ = get<double>(state, "minibatch.rate_scale");
}

}  // namespace kaiseki::nn
