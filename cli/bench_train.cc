// SPDX-License-Identifier: MIT
// kaiseki bench train: training steps on random samples that are in memory.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/json_line.h"
#include "cli/bench.h"
#include "cli/setup.h"
#include "matrix/memory/allocator.h"
#include "matrix/ops/random.h"
#include "matrix/threads.h"
#include "nn/network.h"
#include "nn/optimizer.h"

namespace kaiseki::cli {
namespace {

constexpr uint64_t kBatches = 8;
constexpr uint64_t kBytes = 16 << 20;  // of all batches, unless a single batch is larger

uint64_t peak_process_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

RandomSamples random_samples(const nn::Network& network, int64_t count, uint64_t seed) {
  Random random(seed);
  Shape shape{count};
  for (int64_t dim : network.input_shape()) shape.push_back(dim);
  RandomSamples samples{Tensor(shape, DType::f32, Device::cpu()),
                        Tensor({count}, DType::i32, Device::cpu())};
  random_uniform_into(samples.x, random);
  int32_t* labels = samples.labels.overwrite<int32_t>();
  for (int64_t n = 0; n < count; ++n)
    labels[n] =
        static_cast<int32_t>(random.below(static_cast<uint64_t>(network.output_shape()[0])));
  return samples;
}

void bench_train(const BenchCommand& c, Device device) {
  std::vector<std::string> cases = c.cases;
  if (cases.empty()) cases = {"lenet", "cifar"};
  for (const std::string& name : cases) {
    nn::Network network = nn::Network::load(find_network(name), device);
    network.initialize(0);
    nn::Optimizer optimizer;
    const uint64_t bytes =
        4 * static_cast<uint64_t>(c.batch_size * network.input_shape().elements());
    std::vector<RandomSamples> batches;
    for (uint64_t i = 0; i < std::clamp<uint64_t>(kBytes / bytes, 1, kBatches); ++i)
      batches.push_back(random_samples(network, c.batch_size, i));
    size_t next = 0;
    const auto pass = [&] {
      const RandomSamples& batch = batches[next++ % batches.size()];
      network.zero_grad(optimizer);
      network.forward_loss(batch.x, batch.labels);
      network.backward();
    };
    const auto update = [&] { optimizer.step(network.parameters(), network.gradients(), 0.01); };
    const std::string short_name = std::filesystem::path(name).stem().string();
    if (c.layers) {
      bench_layers(c, short_name, device, {network, pass, update});
      continue;
    }
    const double seconds = median_seconds(device, c.repeat, c.seconds, [&] {
      pass();
      update();
    });
    JsonLine line;
    line.add("bench", "train").add("case", short_name);
    line.add("device", device.name()).add("threads", thread_count());
    line.add("batch_size", c.batch_size).add("milliseconds", 1e3 * seconds);
    line.add("batches_per_minute", 60 / seconds);
    line.add("images_per_second", static_cast<double>(c.batch_size) / seconds);
    line.add("memory", device.memory().account().peak).add("process_memory", peak_process_memory());
    std::printf("%s\n", line.str().c_str());
    std::fflush(stdout);
  }
}

}  // namespace kaiseki::cli
