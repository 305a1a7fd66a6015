// SPDX-License-Identifier: MIT
#include "dist/train/training_memory.h"

#include <algorithm>

#include "nn/network.h"

namespace kaiseki::dist {
namespace {

constexpr double kParameter = 4;    // the value, the gradient, the blob, and its decoded values
constexpr double kActivation = 2;   // the output and its gradient
constexpr double kRoom = 16 << 20;  // a ticket, and the fixed memory of a network
constexpr uint64_t kForWaiting = uint64_t{1} << 30;

}  // namespace

TrainingMemory::TrainingMemory(const nn::NetworkSpec& spec, uint64_t text_bytes) {
  double parameters = 0, activations = 0;
  for (const nn::InputSpec& input : spec.inputs)
    activations += 2 * static_cast<double>(input.shape.elements());  // decoded and as floats
  for (const nn::LayerSummary& layer : nn::summarize(spec).layers) {
    parameters += static_cast<double>(layer.parameters);
    activations += static_cast<double>(layer.output.elements());
  }
  network_ = kRoom + static_cast<double>(kText) * static_cast<double>(text_bytes) +
             kParameter * sizeof(float) * parameters;
  sample_ = kActivation * sizeof(float) * activations;
}

uint64_t TrainingMemory::needed(int64_t samples, int64_t passes) const {
  const double bytes =
      network_ + sample_ * static_cast<double>(samples) * static_cast<double>(passes);
  return bytes < 1e18 ? static_cast<uint64_t>(bytes) : UINT64_MAX;
}

uint64_t TrainingMemory::declared(int64_t samples, int64_t passes) const {
  return std::max(needed(samples), std::min(needed(samples, passes), kForWaiting));
}

}  // namespace kaiseki::dist
