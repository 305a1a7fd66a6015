// SPDX-License-Identifier: MIT
// A small training run for tests: noisy patterns, and a network of two layers with dropout and
// batch normalization.
#pragma once

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "nn/train/evaluator.h"
#include "nn/train/trainer.h"

namespace kaiseki::nn {

/// Sample i has class i % 3. It is noise with a bright row of that index.
class Patterns : public Dataset {
 public:
  explicit Patterns(int64_t size, bool augmented = true) : size_(size), augmented_(augmented) {}
  int64_t size() const override { return size_; }
  Shape sample_shape() const override { return {1, 4, 5}; }
  int classes() const override { return 3; }
  std::vector<std::string> class_names() const override { return {"top", "middle", "low"}; }
  Normalization normalization() const override { return {{}, {1 / kLargest}}; }
  void read(int64_t index, uint8_t* out, int32_t& label, Random& augmentation) const override {
    Random random(17, static_cast<uint64_t>(index));
    label = static_cast<int32_t>(index % 3);
    const float brightness = augmented_ ? 0.9f + 0.1f * augmentation.uniform() : 1;
    for (int i = 0; i < 20; ++i) {
      const float value = 0.6f * random.uniform() + (i / 5 == label ? brightness : 0);
      out[i] = static_cast<uint8_t>(255 * value / kLargest);
    }
  }

 private:
  static constexpr float kLargest = 1.6f;
  int64_t size_;
  bool augmented_;
};

/// Some calls of size() on the main thread throw OutOfMemory. Restoring an iterator is one call.
class FailingPatterns : public Patterns {
 public:
  using Patterns::Patterns;
  int64_t size() const override {
    if (std::this_thread::get_id() == main_ && ++calls >= first_failure &&
        calls < first_failure + failures)
      throw OutOfMemory("the test", {});
    return Patterns::size();
  }

  mutable int64_t calls = 0;
  int64_t first_failure = 0, failures = 0;

 private:
  std::thread::id main_ = std::this_thread::get_id();
};

/// The weights, the states of layers, and those of the optimizer.
inline std::vector<std::vector<float>> all_values(Network& network, Optimizer& optimizer) {
  std::vector<std::vector<float>> all;
  for (const Parameter& one : network.parameters()) all.push_back(one.value.to_vector());
  for (const State& one : network.states()) all.push_back(one.value.to_vector());
  for (const State& one : optimizer.states(network.parameters()))
    all.push_back(one.value.to_vector());
  return all;
}

struct TrainingRun {
  static constexpr const char* kNetwork = R"({"inputs": {"x": {"shape": [1, 4, 5]}}, "layers": [
    {"name": "fc1", "type": "fully_connected", "output_size": 16},
    {"name": "bn1", "type": "batch_normalization"},
    {"name": "act1", "type": "relu"},
    {"name": "drop1", "type": "dropout", "ratio": 0.25},
    {"name": "fc2", "type": "fully_connected", "output_size": 3},
    {"name": "probability", "type": "softmax"}]})";

  Network network;
  Optimizer optimizer;
  Iterator iterator;
  Updater updater;
  Trainer trainer;

  explicit TrainingRun(int64_t epochs, const char* rule = "momentum", double rate = 0.05,
                       std::shared_ptr<const Dataset> data = std::make_shared<Patterns>(50))
      : network(Network::parse(kNetwork, "test")),
        optimizer(OptimizerOptions{.name = rule}),
        iterator(std::move(data), IteratorOptions{.batch_size = 8, .seed = 4}),
        updater(network, optimizer, iterator, Schedule{.base = rate}),
        trainer(updater, TrainerOptions{.epochs = epochs, .seed = 9}) {
    network.initialize(9);
  }

  std::vector<std::vector<float>> values() { return all_values(network, optimizer); }

  std::vector<std::vector<float>> weights() {
    std::vector<std::vector<float>> all;
    for (Parameter& parameter : network.parameters()) all.push_back(parameter.value.to_vector());
    for (State& state : network.states()) all.push_back(state.value.to_vector());
    return all;
  }
};

struct PlainRunOptions {
  const char* rule = "momentum";
  int64_t batch_size = 8, accumulate = 1, samples = 50;
  int hidden = 16;
  Device device = Device::cpu();
};

/// A run without batch normalization, whose statistics depend on the minibatch.
struct PlainRun {
  Network network;
  Optimizer optimizer;
  Iterator iterator;
  Updater updater;
  Trainer trainer;

  explicit PlainRun(const PlainRunOptions& options)
      : network(network_of(options.hidden, options.device)),
        optimizer(OptimizerOptions{.name = options.rule}),
        iterator(std::make_shared<Patterns>(options.samples),
                 IteratorOptions{.batch_size = options.batch_size, .seed = 4, .workers = 1}),
        updater(network, optimizer, iterator, Schedule{.base = 0.05}, options.accumulate),
        trainer(updater, TrainerOptions{.epochs = 2, .seed = 9}) {
    network.initialize(9);
  }

  static Network network_of(int hidden, Device device) {
    return Network::parse(R"({"inputs": {"x": {"shape": [1, 4, 5]}}, "layers": [
          {"type": "fully_connected", "output_size": )" +
                              std::to_string(hidden) + R"(}, {"type": "relu"},
          {"type": "dropout", "ratio": 0.25}, {"type": "fully_connected", "output_size": 3},
          {"type": "softmax"}]})",
                          "test", device);
  }

  std::vector<std::vector<float>> values() { return all_values(network, optimizer); }
};

/// An empty folder. The destructor deletes it.
struct TestFolder {
  std::filesystem::path path;
  explicit TestFolder(const std::string& name)
      : path(std::filesystem::temp_directory_path() /
             ("kaiseki-" + name + "-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~TestFolder() { std::filesystem::remove_all(path); }
};

}  // namespace kaiseki::nn
