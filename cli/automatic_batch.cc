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
#include "cli/terminal.h"
#include "cli/text.h"
#include "nn/train/minibatch_size.h"
#include "nn/train/noise_cap.h"

namespace kaiseki::cli {
namespace {

constexpr size_t kShown = 6;

/// Chooses as another strategy does, and prints the times. `limit`: text before the size.
class ShownStrategy : public nn::MinibatchStrategy {
 public:
  ShownStrategy(std::unique_ptr<nn::MinibatchStrategy> strategy, std::string limit)
      : strategy_(std::move(strategy)), limit_(std::move(limit)) {}

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
    std::printf("batch size  %s%s (%s)\n", limit_.c_str(), format_count(size).c_str(),
                times.c_str());
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
  std::string limit_;
};

/// Prints the size of the second epoch.
class ShownCap : public nn::NoiseCap {
 public:
  using NoiseCap::NoiseCap;
  void on_epoch(nn::Trainer& trainer) override {
    if (trainer.epoch() != 1 || trainer.options().epochs < 2) return;
    const std::optional<double> scale = noise_scale().value();
    clear_live_line();
    std::printf("batch size  %s from epoch 2 on (%s)\n",
                format_count(trainer.updater().iterator().batch_size()).c_str(),
                scale ? ("gradient noise scale " + format_number("%.3g", *scale)).c_str()
                      : "no gradient noise scale was measured");
    std::fflush(stdout);
  }
};

std::unique_ptr<nn::MinibatchStrategy> strategy_of(const std::string& how) {
  if (how == "auto:time") return std::make_unique<nn::EpochTimeMinimize>();
  if (how == "auto:usage") return std::make_unique<nn::UsageMaximize>();
  return std::make_unique<nn::FitEpochTime>();
}

nn::RateScaling scaling_of(const std::string& name) {
  return name == "linear" ? nn::RateScaling::linear
         : name == "sqrt" ? nn::RateScaling::square_root
                          : nn::RateScaling::none;
}

}  // namespace

std::string rate_scaling_of(const TrainCommand& command) {
  if (!command.scale_rate.empty()) return command.scale_rate;
  return command.recipe.learning_rate ? "off" : "sqrt";
}

void add_automatic_batch(nn::Trainer& trainer, const TrainCommand& command) {
  const bool is_capped = command.batch_size == "auto:noise";
  const nn::RateScaling scaling = scaling_of(rate_scaling_of(command));
  trainer.extend(std::make_unique<nn::MinibatchSizeOptimizer>(
      std::make_unique<ShownStrategy>(strategy_of(command.batch_size), is_capped ? "at most " : ""),
      nn::MinibatchSizeOptions{.scaling = scaling, .stopped = interrupted}));
  if (is_capped)
    trainer.extend(std::make_unique<ShownCap>(trainer.updater().iterator().batch_size(), scaling));
}

}  // namespace kaiseki::cli
