// SPDX-License-Identifier: MIT
#include "cli/automatic_batch.h"

#include <cstdio>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "cli/text.h"
#include "nn/train/minibatch_size.h"

namespace kaiseki::cli {
namespace {

/// Chooses like another strategy, and prints what was tried.
class ShownStrategy : public nn::MinibatchStrategy {
 public:
  explicit ShownStrategy(std::unique_ptr<nn::MinibatchStrategy> strategy)
      : strategy_(std::move(strategy)) {}

  int64_t choose(nn::MinibatchTrials& trials, int64_t start) override {
    const double begin = steady_seconds();
    Shown shown(trials);
    const int64_t size = strategy_->choose(shown, start);
    std::vector<std::string> tried;
    for (const auto& [samples, seconds] : shown.seconds_of_epochs)
      tried.push_back(format_count(samples) + " (" + format_number("%.3g", seconds) + " s)");
    std::printf("batch size  %s, of the epochs with %s; chosen in %s s\n",
                format_count(size).c_str(), join(tried, ", ").c_str(),
                format_number("%.2g", steady_seconds() - begin).c_str());
    std::fflush(stdout);
    return size;
  }

 private:
  class Shown : public nn::MinibatchTrials {
   public:
    explicit Shown(nn::MinibatchTrials& trials) : trials_(trials) {}
    std::optional<Trial> run(int64_t size, int iterations) override {
      const auto trial = trials_.run(size, iterations);
      if (trial)
        seconds_of_epochs.emplace_back(
            size, trial->seconds * static_cast<double>(samples()) / static_cast<double>(size));
      return trial;
    }
    int64_t samples() const override { return trials_.samples(); }
    std::vector<std::pair<int64_t, double>> seconds_of_epochs;

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
      std::make_unique<ShownStrategy>(strategy_of(how)), scales_rate));
}

}  // namespace kaiseki::cli
