// SPDX-License-Identifier: MIT
#include "cli/automatic_batch.h"

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/interrupt.h"
#include "cli/text.h"
#include "nn/train/minibatch_size.h"

namespace kaiseki::cli {
namespace {

constexpr size_t kShown = 6;

/// Chooses as another strategy does, and prints the times.
class ShownStrategy : public nn::MinibatchStrategy {
 public:
  explicit ShownStrategy(std::unique_ptr<nn::MinibatchStrategy> strategy)
      : strategy_(std::move(strategy)) {}

  int64_t choose(nn::MinibatchTrials& trials, int64_t start) override {
    Recorded recorded(trials);
    const int64_t size = strategy_->choose(recorded, start);
    std::vector<std::string> tried;
    for (const auto& [samples, seconds] : recorded.epochs)
      tried.push_back(format_count(samples) + ": " +
                      (seconds ? format_number("%.3g", *seconds) : "too large"));
    const std::string times =
        tried.size() <= kShown ? "seconds of an epoch by size: " + join(tried, ", ")
                               : format_count(std::ssize(tried)) + " sizes from " +
                                     format_count(recorded.epochs.begin()->first) + " to " +
                                     format_count(recorded.epochs.rbegin()->first) + " were tried";
    std::printf("batch size  %s (%s)\n", format_count(size).c_str(), times.c_str());
    std::fflush(stdout);
    return size;
  }

 private:
  class Recorded : public nn::MinibatchTrials {
   public:
    explicit Recorded(nn::MinibatchTrials& trials) : trials_(trials) {}
    std::optional<Trial> run(int64_t size, int iterations) override {
      const std::optional<Trial> trial = trials_.run(size, iterations);
      epochs[size] = std::nullopt;
      if (trial)
        epochs[size] = trial->seconds * static_cast<double>(samples()) / static_cast<double>(size);
      return trial;
    }
    int64_t samples() const override { return trials_.samples(); }
    std::map<int64_t, std::optional<double>> epochs;  // seconds by size; empty: too large

   private:
    nn::MinibatchTrials& trials_;
  };
  std::unique_ptr<nn::MinibatchStrategy> strategy_;
};

std::unique_ptr<nn::MinibatchStrategy> strategy_of(const std::string& how) {
  if (how == "auto:time") return std::make_unique<nn::EpochTimeMinimize>();
  if (how == "auto:usage") return std::make_unique<nn::UsageMaximize>();
  return std::make_unique<nn::FitEpochTime>();
}

}  // namespace

void add_automatic_batch(nn::Trainer& trainer, const std::string& how, bool scales_rate) {
  trainer.extend(std::make_unique<nn::MinibatchSizeOptimizer>(
      std::make_unique<ShownStrategy>(strategy_of(how)),
      nn::MinibatchSizeOptions{.scales_rate = scales_rate, .stopped = interrupted}));
}

}  // namespace kaiseki::cli
