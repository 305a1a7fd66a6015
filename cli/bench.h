// SPDX-License-Identifier: MIT
// The parts of kaiseki bench. Each prints JSON lines.
#pragma once

#include <functional>

#include "cli/options.h"
#include "matrix/tensor.h"
#include "nn/network.h"

namespace kaiseki::cli {

struct RandomSamples {
  Tensor x, labels;
};
/// Random samples for a network whose output is classes.
RandomSamples random_samples(const nn::Network& network, int64_t count, uint64_t seed = 1);

void bench_gemm(const BenchCommand& command, Device device);
void bench_conv(const BenchCommand& command, Device device);
/// Reads with --threads workers. Does not use the device.
void bench_data(const BenchCommand& command);
void bench_train(const BenchCommand& command, Device device);

/// A training step in two parts.
struct BenchStep {
  nn::Network& network;
  std::function<void()> pass, update;
};
/// Prints the time of each layer and writes the trace, if the command asks for one.
void bench_layers(const BenchCommand& command, const std::string& name, Device device,
                  const BenchStep& step);

/// Returns the seconds of one call of `body`: the median of `repeat` runs of about `seconds` each.
/// Calls it once before, to warm up. Waits for the device.
double median_seconds(Device device, int64_t repeat, double seconds,
                      const std::function<void()>& body);

}  // namespace kaiseki::cli
