// SPDX-License-Identifier: MIT
#include "dist/cluster/thesis_model.h"

#include <algorithm>

namespace kaiseki::dist::thesis {
namespace {

/// Fully connected layers are limited by reading their weights.
double seconds_of(const ThesisLayer& layer, const ThesisMachine& machine) {
  return layer.is_convolution ? layer.flop / machine.flops : layer.parameters / machine.memory;
}

}  // namespace

double data_parallel_seconds(std::span<const ThesisLayer> layers, const ThesisMachine& machine,
                             int64_t images) {
  double pass = 0, parameters = 0;
  for (const ThesisLayer& layer : layers) {
    pass += seconds_of(layer, machine);
    parameters += layer.parameters;
  }
  return 2 * static_cast<double>(images) * pass + parameters / machine.network + pass;
}

double hybrid_seconds(std::span<const ThesisLayer> layers, const ThesisMachine& machine,
                      int64_t images) {
  double interval = 0, latency = 0, parameters = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const double stage = seconds_of(layers[i], machine) / layers[i].nodes;
    interval = std::max(interval, stage);
    latency += stage;
    if (i + 1 < layers.size()) latency += layers[i].output / machine.network;
    parameters = std::max(parameters, layers[i].parameters / layers[i].nodes);
  }
  return 2 * (interval * static_cast<double>(images - 1) + latency) + parameters / machine.network +
         interval;
}

}  // namespace kaiseki::dist::thesis
