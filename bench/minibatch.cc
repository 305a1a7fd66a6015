// SPDX-License-Identifier: MIT
// The automatic size of a minibatch. Compares the epoch of the chosen size with the shortest epoch
// of a sweep over 12 sizes. Compares the time of the choice with an epoch of MNIST's size.
//   minibatch [--threads 1,2] [--device cpu] [--strategy fit|time|usage] [NETWORK ...]
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/busy_time.h"
#include "bench/random_pictures.h"
#include "bench/report.h"
#include "matrix/threads.h"
#include "matrix/tune/policy.h"
#include "nn/train/minibatch_size.h"
#include "nn/train/updater.h"

namespace kaiseki::bench {
namespace {

constexpr int64_t kSamples = 60000;  // as MNIST
/// The first value is for small networks, the second for large ones.
constexpr int kRounds[] = {5, 2}, kSweepIterations[] = {3, 1};

double epoch_seconds(double iteration, int64_t size) {
  return iteration * std::ceil(static_cast<double>(kSamples) / static_cast<double>(size));
}

std::unique_ptr<nn::MinibatchStrategy> strategy_of(const std::string& name) {
  if (name == "fit") return std::make_unique<nn::FitEpochTime>();
  if (name == "time") return std::make_unique<nn::EpochTimeMinimize>();
  if (name == "usage") return std::make_unique<nn::UsageMaximize>();
  std::fprintf(stderr, "minibatch: --strategy: expected fit, time or usage, got '%s'\n",
               name.c_str());
  std::exit(1);
}

void run_network(const std::string& name, const std::string& strategy, Device device) {
  nn::Network network = nn::Network::load("models/" + name + ".json", device);
  network.initialize(0);
  const bool is_large = network.input_shape().elements() > 10000;
  const int64_t start = is_large ? 8 : 64;
  auto pictures = std::make_shared<RandomPictures>(kSamples, network.input_shape(),
                                                   static_cast<int>(network.output_shape()[0]));
  nn::Optimizer optimizer;
  nn::Iterator iterator(pictures, {.batch_size = start});
  nn::Updater updater(network, optimizer, iterator, nn::Schedule{.base = 0.01});
  nn::UpdaterTrials trials(updater);
  // From a quarter of the start to four times the start, as the sizes of the strategy.
  std::vector<int64_t> sizes;
  for (int i = 0; i < 12; ++i)
    sizes.push_back(std::llround(static_cast<double>(start) / 4 * std::pow(16.0, i / 11.0)));

  const auto begin = std::chrono::steady_clock::now();
  const int64_t chosen = strategy_of(strategy)->choose(trials, start);
  const std::chrono::duration<double> choice = std::chrono::steady_clock::now() - begin;
  // The shortest of several rounds, because other programs disturb each size at another time.
  if (std::ranges::find(sizes, chosen) == sizes.end()) sizes.push_back(chosen);
  std::vector<double> seconds(sizes.size(), std::numeric_limits<double>::infinity());
  for (int round = 0; round < kRounds[is_large]; ++round)
    for (size_t i = 0; i < sizes.size(); ++i)
      if (const auto trial = trials.run(sizes[i], kSweepIterations[is_large]))
        seconds[i] = std::min(seconds[i], epoch_seconds(trial->seconds, sizes[i]));
  const double ours =
      seconds[static_cast<size_t>(std::ranges::find(sizes, chosen) - sizes.begin())];
  const double best = std::ranges::min(seconds);
  const std::string text = name + ' ' + device.name() + ": " + std::to_string(chosen);
  print_case("minibatch", text, "best of 12 sizes", ours, best, "s an epoch", best / ours);
  print_case("minibatch", text, "choice, % of epoch", 100 * choice.count() / ours, 2, "%",
             2 * ours / (100 * choice.count()));
}

/// Each number of threads runs in its own process.
void run(const std::vector<std::string>& networks, const std::string& strategy, Device device,
         int threads) {
  const pid_t child = fork();
  if (child == 0) {
    set_thread_count(threads);
    // Measurements of convolutions would hide the time of the choice.
    set_tune_policy({.mode = TuneMode::cached});
    std::optional<BusyTimeMeasurement> measured;
    if (strategy == "usage") measured.emplace();
    for (const std::string& name : networks) run_network(name, strategy, device);
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) std::exit(1);
}

}  // namespace
}  // namespace kaiseki::bench

int main(int argc, char** argv) {
  std::vector<std::string> networks;
  std::string threads = "1,2", strategy = "fit", device = "cpu";
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const bool has_value = i + 1 < argc;
    if (text == "--threads" && has_value)
      threads = argv[++i];
    else if (text == "--strategy" && has_value)
      strategy = argv[++i];
    else if (text == "--device" && has_value)
      device = argv[++i];
    else
      networks.push_back(text);
  }
  if (networks.empty()) networks = {"lenet", "cifar", "resnet50"};
  std::istringstream list(threads);
  for (std::string count; std::getline(list, count, ',');)
    kaiseki::bench::run(networks, strategy,
                        device == "cpu" ? kaiseki::Device::cpu() : kaiseki::Device::opencl(0),
                        std::stoi(count));
}
