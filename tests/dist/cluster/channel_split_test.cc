// SPDX-License-Identifier: MIT
#include "dist/cluster/channel_split.h"

#include <doctest/doctest.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "dist/cluster/cluster_updater.h"
#include "dist/cluster/local_ranks.h"
#include "matrix/ops/copy.h"
#include "tests/dist/cluster/worst_difference.h"
#include "tests/nn/train/fixture.h"
#include "tests/support/memory_room.h"

namespace kaiseki::dist {
namespace {

std::string network_of(const std::string& layers) {
  return R"({"inputs": {"x": {"shape": [1, 4, 5]}}, "layers": [)" + layers + "]}";
}

const char* const kLines[] = {
    // Fully connected layers, with a number of channels that no number of ranks divides.
    R"({"type": "fully_connected", "output_size": 13}, {"type": "tanh"},
       {"type": "dropout", "ratio": 0.25}, {"type": "fully_connected", "output_size": 7},
       {"type": "sigmoid"}, {"type": "fully_connected", "output_size": 3}, {"type": "softmax"})",
    // Normalization, pooling and flatten stay divided.
    R"({"type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 7, "bias": false},
       {"type": "batch_normalization"}, {"type": "relu"},
       {"type": "max_pooling", "kernel_size": 2, "stride": 2},
       {"type": "convolution", "kernel_size": [1, 2], "output_channels": 5}, {"type": "leaky_relu"},
       {"type": "flatten"}, {"type": "fully_connected", "output_size": 3}, {"type": "softmax"})",
    // A whole layer whose name begins with that of a divided one.
    R"({"name": "fc", "type": "fully_connected", "output_size": 6}, {"type": "relu"},
       {"name": "fc.out", "type": "fully_connected", "output_size": 1},
       {"name": "fc.out.last", "type": "fully_connected", "output_size": 3}, {"type": "softmax"})",
    // A value that divided layers and others read, groups, and sums over channels.
    R"({"name": "a", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 6},
       {"name": "b", "type": "convolution", "kernel_size": 1, "output_channels": 6},
       {"name": "c", "type": "add", "inputs": ["a", "b"]},
       {"name": "d", "type": "relu"},
       {"name": "e", "type": "local_response_normalization", "inputs": ["d"]},
       {"name": "f", "type": "convolution", "kernel_size": 3, "groups": 2, "output_channels": 4},
       {"name": "g", "type": "convolution", "kernel_size": 3, "output_channels": 4,
        "inputs": ["d"]},
       {"name": "h", "type": "concatenation", "inputs": ["f", "g"]},
       {"name": "i", "type": "global_pooling"}, {"type": "flatten"},
       {"type": "fully_connected", "output_size": 3}, {"type": "softmax"})",
};

struct Training {
  nn::Network network;
  nn::Optimizer optimizer{{.weight_decay = 0.001}};
  explicit Training(const std::string& layers)
      : network(nn::Network::parse(network_of(layers), "test", Device::cpu())) {
    network.initialize(9);
  }
  std::vector<std::vector<float>> values() { return nn::all_values(network, optimizer); }
};

nn::Iterator batches_of(const nn::BatchShare& share) {
  return nn::Iterator(std::make_shared<nn::Patterns>(50),
                      {.batch_size = 8, .seed = 4, .workers = 1, .share = share});
}

const nn::Schedule kSchedule{.base = 0.05};

void train_alone(Training& of, int steps) {
  nn::Iterator batches = batches_of({});
  nn::Updater updater(of.network, of.optimizer, batches, kSchedule);
  for (int i = 0; i < steps; ++i) updater.update();
}

/// Trains `of` on sets of ranks. `of` gets the weights of all channels.
void train_divided(Training& of, int ranks, int ranks_of_set, int steps) {
  std::mutex mutex;
  run_local_ranks(ranks, [&](Communicator& all) {
    const int rank = all.rank();
    const auto set = all.split(rank / ranks_of_set, rank);
    Cluster sets(all.split(rank % ranks_of_set, rank));
    Training whole(kLines[0]);
    {
      std::lock_guard lock(mutex);
      whole.network = nn::Network::parse(of.network.json(), "test", Device::cpu());
      whole.network.initialize(of.network.seed());
      whole.network.set_random_position(of.network.random_position());
      for (size_t i = 0; i < whole.network.parameters().size(); ++i)
        copy_into(whole.network.parameters()[i].value, of.network.parameters()[i].value);
      for (size_t i = 0; i < whole.network.states().size(); ++i)
        copy_into(whole.network.states()[i].value, of.network.states()[i].value);
    }
    ChannelSplit split(whole.network, *set);
    nn::Optimizer optimizer(of.optimizer.options());
    {
      std::lock_guard lock(mutex);
      split.divide(of.network, of.optimizer, optimizer);
    }
    nn::Iterator batches = batches_of(sets.share());
    ClusterUpdater updater(split.network(), optimizer, batches, kSchedule, sets);
    for (int i = 0; i < steps; ++i) updater.update();
    nn::Optimizer joined(of.optimizer.options());
    split.join(whole.network);
    split.join(whole.network, joined, optimizer);
    barrier(all);
    if (rank != 0) return;
    std::lock_guard lock(mutex);
    of.network = std::move(whole.network);
    of.optimizer = std::move(joined);
  });
}

}  // namespace

TEST_CASE("channel split: ranks that share a network train as one") {
  for (const char* layers : kLines) {
    CAPTURE(layers);
    Training alone(layers);
    train_alone(alone, 20);
    for (const int ranks : {1, 2, 3, 4}) {
      CAPTURE(ranks);
      Training divided(layers);
      train_divided(divided, ranks, ranks, 20);
      CHECK(worst_difference(alone.values(), divided.values()) < 1e-5);
    }
  }
}

TEST_CASE("channel split: sets of ranks divide the minibatch") {
  Training alone(kLines[0]);
  train_alone(alone, 20);
  for (const int ranks_of_set : {2, 3}) {
    CAPTURE(ranks_of_set);
    Training divided(kLines[0]);
    train_divided(divided, 6, ranks_of_set, 20);
    CHECK(worst_difference(alone.values(), divided.values()) < 1e-5);
  }
}

TEST_CASE("channel split: a training goes on with another number of ranks") {
  Training alone(kLines[0]), other(kLines[0]);
  // Each run begins with the first minibatch.
  for (const int ranks : {3, 1, 4, 2}) {
    train_alone(alone, 5);
    train_divided(other, ranks, ranks, 5);
  }
  CHECK(worst_difference(alone.values(), other.values()) < 1e-5);
  CHECK(other.optimizer.steps() == 20);
}

TEST_CASE("channel split: the same ranks give the same bits") {
  Training first(kLines[3]), second(kLines[3]);
  train_divided(first, 3, 3, 5);
  train_divided(second, 3, 3, 5);
  CHECK(first.values() == second.values());
}

TEST_CASE("channel split: a rank has its part of the weights") {
  run_local_ranks(3, [&](Communicator& set) {
    Training whole(kLines[1]);
    ChannelSplit split(whole.network, set);
    int64_t all = 0, own = 0;
    for (const nn::Parameter& one : whole.network.parameters()) all += one.value.size();
    for (const nn::Parameter& one : split.network().parameters()) own += one.value.size();
    // The last layer is whole: its 3 outputs of 5 * 2 * 1 values.
    constexpr int64_t kLast = 3 * 10 + 3;
    CHECK(own < (all - kLast) / 3 + kLast + 30);
    CHECK(split.network().output_shape() == whole.network.output_shape());
  });
}

TEST_CASE("channel split: only the chosen layers and functions after them are divided") {
  const nn::NetworkSpec spec = Training(kLines[1]).network.spec();
  const std::string first = spec.layers[0].name;
  const DividedSpec some = divide_channels(spec, 0, 2, std::set<std::string>{first});
  CHECK(some.units.size() == 4);  // with normalization, relu and pooling
  CHECK(some.units.at(first) == 7);
  CHECK(divide_channels(spec, 0, 2, std::set<std::string>{}).units.empty());
  CHECK(divisible_layers(spec, 2).size() == 3);
  CHECK(divisible_layers(spec, 6).size() == 1);
}

TEST_CASE("channel split: a device whose memory is limited is refused") {
  const test::WithRoom room(Device::cpu(), 1 << 30);
  CHECK_FALSE(can_divide_channels(Device::cpu()));
  run_local_ranks(1, [&](Communicator& set) {
    Training whole(kLines[1]);
    CHECK_THROWS_WITH_AS(ChannelSplit(whole.network, set),
                         doctest::Contains("KAISEKI_DEVICE_MEMORY"), Error);
  });
}

TEST_CASE("channel split: the gradient of the input is that of the whole network") {
  for (const char* layers : kLines) {
    CAPTURE(layers);
    const std::vector<float> values(2 * 20, 0.5f);
    const Tensor x = Tensor::from(std::span<const float>(values), {2, 1, 4, 5}, Device::cpu());
    const std::vector<int32_t> classes = {0, 2};
    const Tensor labels = Tensor::from(std::span<const int32_t>(classes), {2}, Device::cpu());
    Training alone(layers);
    alone.network.forward_loss(x, labels, nn::Phase::train, true);
    const std::vector<float> expected = alone.network.backward().to_vector();
    run_local_ranks(2, [&](Communicator& set) {
      Training whole(layers);
      ChannelSplit split(whole.network, set);
      split.network().forward_loss(x, labels, nn::Phase::train, true);
      CHECK(worst_difference({expected}, {split.network().backward().to_vector()}) < 1e-5);
    });
  }
}

}  // namespace kaiseki::dist
