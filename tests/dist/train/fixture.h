// SPDX-License-Identifier: MIT
// A small network for small digits, trained on one machine or over a pool.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "dist/train/local_nodes.h"
#include "dist/train/pool_updater.h"
#include "matrix/tune/policy.h"
#include "nn/data/dataset.h"
#include "tests/support/lie.h"

namespace kaiseki::dist {

using test::Attack;
using test::Liar;
using test::Lie;

/// Dropout on both sides of the border.
inline constexpr const char* kSmall = R"({"inputs": {"x": {"shape": [1, 12, 12]}}, "layers": [
  {"name": "conv1", "type": "convolution", "output_channels": 6, "kernel_size": 3},
  {"name": "act1", "type": "relu"},
  {"name": "drop1", "type": "dropout", "ratio": 0.1},
  {"name": "conv2", "type": "convolution", "output_channels": 8, "kernel_size": 3},
  {"name": "act2", "type": "relu"},
  {"name": "pool2", "type": "max_pooling", "kernel_size": 2, "stride": 2},
  {"name": "fc3", "type": "fully_connected", "output_size": 24},
  {"name": "act3", "type": "relu"},
  {"name": "drop3", "type": "dropout", "ratio": 0.3},
  {"name": "fc4", "type": "fully_connected", "output_size": 10},
  {"name": "probability", "type": "softmax"}]})";

/// There is no bias before a batch normalization, because its gradient would be rounding only.
inline constexpr const char* kNormalized = R"({"inputs": {"x": {"shape": [1, 12, 12]}}, "layers": [
  {"name": "conv1", "type": "convolution", "output_channels": 6, "kernel_size": 3, "bias": false},
  {"name": "bn1", "type": "batch_normalization"},
  {"name": "act1", "type": "relu"},
  {"name": "pool1", "type": "max_pooling", "kernel_size": 2, "stride": 2},
  {"name": "fc2", "type": "fully_connected", "output_size": 16, "bias": false},
  {"name": "bn2", "type": "batch_normalization"},
  {"name": "act2", "type": "relu"},
  {"name": "fc3", "type": "fully_connected", "output_size": 10},
  {"name": "probability", "type": "softmax"}]})";

inline std::shared_ptr<const nn::Dataset> small_digits(int64_t count, bool train = true) {
  nn::DataOptions options;
  options.spec = "digits:" + std::to_string(count);
  options.train = train;
  options.preprocessing.height = options.preprocessing.width = 12;
  return nn::open_dataset(options);
}

using Weights = std::vector<std::pair<std::string, std::vector<float>>>;

struct Run {
  nn::Network network;
  nn::Optimizer optimizer;
  nn::Iterator iterator;
  std::unique_ptr<LocalNodes> nodes;
  std::unique_ptr<nn::Updater> updater;
  std::vector<float> losses = {};

  /// Without options it trains on one machine.
  explicit Run(const std::optional<PoolTrainingOptions>& options = {},
               std::vector<LocalNode> with = {}, uint64_t seed = 1, const char* json = kSmall,
               std::shared_ptr<const nn::Dataset> data = small_digits(320),
               const nn::OptimizerOptions& how = {}, double rate = 0.02)
      : network(nn::Network::parse(json, "test", Device::cpu())),
        optimizer(how),
        iterator(std::move(data), nn::IteratorOptions{.batch_size = 32, .seed = 5, .files = true}),
        nodes(std::make_unique<LocalNodes>(std::move(with), seed)) {
    network.initialize(11);
    const nn::Schedule schedule{.base = rate};
    if (options)
      updater =
          std::make_unique<PoolUpdater>(network, optimizer, iterator, schedule, *nodes, *options);
    else
      updater = std::make_unique<nn::Updater>(network, optimizer, iterator, schedule);
  }

  PoolUpdater& pool() { return static_cast<PoolUpdater&>(*updater); }

  Run& train(int steps) {
    for (int i = 0; i < steps; ++i) losses.push_back(updater->update().loss.item());
    return *this;
  }

  Weights weights() {
    Weights all;
    for (nn::Parameter& one : network.parameters())
      all.push_back({one.name, one.value.to_vector()});
    for (nn::State& one : network.states()) all.push_back({one.name, one.value.to_vector()});
    return all;
  }
};

inline PoolTrainingOptions pool_options(PoolMode mode, WireType wire = WireType::f32) {
  PoolTrainingOptions options;
  options.mode = mode;
  options.ticket_samples = 8;
  options.wire = wire;
  options.trust.seed = 0;
  return options;
}

inline std::vector<LocalNode> some_nodes(int count) {
  std::vector<LocalNode> nodes;
  for (int i = 0; i < count; ++i)
    nodes.push_back({.name = "node" + std::to_string(i), .seconds = 1 + 0.7 * i});
  return nodes;
}

/// The largest difference of a tensor relative to its norm.
inline double difference(const Weights& found, const Weights& expected) {
  double worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    double squares = 0, norm = 0;
    for (size_t k = 0; k < expected[i].second.size(); ++k) {
      const double x = static_cast<double>(found[i].second[k]);
      const double y = static_cast<double>(expected[i].second[k]);
      squares += (x - y) * (x - y);
      norm += y * y;
    }
    worst = std::max(worst, std::sqrt(squares / std::max(norm, 1e-30)));
  }
  return worst;
}

}  // namespace kaiseki::dist
