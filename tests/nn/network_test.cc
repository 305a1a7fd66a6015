// SPDX-License-Identifier: MIT
#include "nn/network.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "matrix/memory/allocator.h"
#include "matrix/ops/copy.h"
#include "nn/network_spec.h"
#include "nn/optimizer.h"
#include "tests/support/gradcheck.h"
#include "tests/support/layer_reference.h"
#include "tests/support/source_dir.h"

using namespace kaiseki;
using namespace kaiseki::test;
using nn::Network;
using nn::Phase;

namespace {

const std::filesystem::path kModels = std::filesystem::path(test::source_dir()) / "models";

Tensor labels_of(std::vector<int32_t> labels, Device device = Device::cpu()) {
  return Tensor::from(std::span<const int32_t>(labels), {static_cast<int64_t>(labels.size())},
                      device);
}

/// {parameters, multiply-adds}
std::pair<int64_t, int64_t> totals(const Network& network) {
  std::pair<int64_t, int64_t> sums{0, 0};
  for (const nn::LayerSummary& layer : network.summary()) {
    sums.first += layer.parameters;
    sums.second += layer.multiply_adds;
  }
  return sums;
}

}  // namespace

TEST_CASE("network: the operations of a layer count windows and inputs") {
  const Network network = Network::parse(R"({"inputs": {"x": {"shape": [6, 8, 8]}}, "layers": [
      {"name": "c", "type": "convolution", "output_channels": 4, "kernel_size": 3},
      {"name": "m", "type": "max_pooling", "kernel_size": 2},
      {"name": "a", "type": "average_pooling", "kernel_size": 3, "stride": 1, "padding": 1},
      {"name": "wide", "type": "average_pooling", "kernel_size": 5, "stride": 1, "padding": 2},
      {"name": "n", "type": "local_response_normalization", "size": 3},
      {"name": "all", "type": "local_response_normalization", "size": 99},
      {"name": "s", "type": "add", "inputs": ["n", "all"]},
      {"name": "g", "type": "global_pooling"}]})",
                                         "test", Device::cpu());
  std::vector<double> found;
  for (const nn::LayerSummary& layer : network.summary()) found.push_back(layer.operations);
  // The planes have 6 x 6 values after the convolution and 3 x 3 after the first pooling.
  const auto operations = [](double reads, double inputs) { return 20 * reads + inputs; };
  const std::vector<double> wanted = {4 * 6 * 6 * 6 * 9 + 6 * 64,
                                      operations(4 * 9 * 4, 4 * 36),
                                      operations(4 * 9 * 9, 4 * 9),
                                      operations(4 * 9 * 9, 4 * 9),
                                      operations(4 * 9 * 3, 4 * 9),
                                      operations(4 * 9 * 4, 4 * 9),
                                      2 * 4 * 9,
                                      4 * 9};
  CHECK(found == wanted);
}

TEST_CASE("network: the two networks of the Sukiyaki paper") {
  const Network lenet = Network::load(kModels / "lenet.json", Device::cpu());
  CHECK(lenet.input_shape() == Shape{1, 28, 28});
  CHECK(lenet.output_shape() == Shape{10});
  CHECK(totals(lenet) == std::pair<int64_t, int64_t>{431'080, 2'293'000});
  const Network cifar = Network::load(kModels / "cifar.json", Device::cpu());
  // 16*(3*25)+16 + 20*(16*25)+20 + 20*(20*25)+20 + 10*320+10 and 1024*1200 + 256*8000 + 64*10000 +
  // 3200
  CHECK(totals(cifar) == std::pair<int64_t, int64_t>{22'466, 3'920'000});
  const Network dag = Network::load(kModels / "lenet-dag.json", Device::cpu());
  CHECK(dag.name() == "lenet");
  CHECK(totals(dag) == totals(lenet));
}

TEST_CASE("network: both list forms of figure 5 give the same network") {
  const std::string fc =
      R"({"type": "fc", "name": "f", "params": {"input_size": 3, "output_size": 2}})";
  const std::string act =
      R"({"type": "act", "name": "a", "params": {"activation_type": "softmax"}})";
  const std::string expected =
      Network::parse("{\"layer_params\": [" + fc + "," + act + "]}", "1", Device::cpu()).json();
  CHECK(Network::parse("[" + fc + "," + act + "]", "2", Device::cpu()).json() == expected);
  CHECK(Network::parse("{\"layer_params\": {" + fc + "," + act + "}}", "3", Device::cpu()).json() ==
        expected);
  CHECK(Network::parse(
            R"({"layer_params": {"f": {"type": "fc", "params": {"input_size": 3, "output_size": 2}},
                           "a": {"type": "act", "params": {"activation_type": "softmax"}}}})",
            "4", Device::cpu())
            .json() == expected);
  CHECK(Network::parse(expected, "5", Device::cpu()).json() == expected);
}

TEST_CASE("network: parameters depend on the seed, not on the device") {
  Network reference = Network::load(kModels / "lenet-dag.json", Device::cpu());
  reference.initialize(7);
  for_each_device([&](Device device) {
    Network network = Network::load(kModels / "lenet-dag.json", device);
    const std::vector<float> first = network.parameters()[0].value.to_vector();
    network.initialize(7);
    for (size_t i = 0; i < network.parameters().size(); ++i)
      CHECK(network.parameters()[i].value.to_vector() ==
            reference.parameters()[i].value.to_vector());
    CHECK(network.parameters()[0].value.to_vector() != first);
  });
  // he: deviation sqrt(2 / 800) for fc3
  double squares = 0;
  const std::vector<float> weights = reference.parameters()[4].value.to_vector();
  for (float w : weights) squares += double{w} * w;
  CHECK(std::sqrt(squares / static_cast<double>(weights.size())) ==
        doctest::Approx(0.05).epsilon(0.01));
  CHECK_FALSE(reference.parameters()[5].decay);
}

TEST_CASE("network: softmax cross-entropy gradients agree with finite differences in double") {
  const std::string fc = R"({"name": "f", "type": "fully_connected", "output_size": 5})";
  const std::vector<int32_t> labels = {4, 0, 2, 2, 1, 3, 0};
  for (const std::string& end :
       {std::string(), std::string(R"(, {"type": "softmax"})"),
        std::string(R"(, {"type": "softmax_cross_entropy"})"),
        std::string(R"(, {"type": "softmax"}, {"type": "softmax_cross_entropy"})")}) {
    CAPTURE(end);
    for_each_device([&](Device device) {
      Network network = Network::parse(network_json({7, 3}, fc + end), "test", device);
      randomize(network, 5);
      const Tensor x = random_tensor({7, 3}, 6, device, -3, 3);
      Parameters p = parameters_of(network);
      const Doubles input = doubles(x);
      auto logits = [&] {
        return with_bias(linear(input, p.at("f.weight"), 3), p.at("f.bias"), 1);
      };
      const Network::Loss loss = network.forward_loss(x, labels_of(labels, device));
      CHECK(loss.loss.item() == doctest::Approx(cross_entropy_of(logits(), labels)).epsilon(1e-5));
      check_near(doubles(loss.output), end.empty() ? logits() : softmax_of(logits(), 5), "output");
      CHECK(network.forward(x).to_vector() == loss.output.to_vector());
      network.forward_loss(x, labels_of(labels, device));
      network.zero_grad();
      network.backward();
      for (size_t i = 0; i < network.parameters().size(); ++i) {
        const std::string& parameter = network.parameters()[i].name;
        check_near(doubles(network.gradients().values[i]),
                   differences(p.at(parameter), [&] { return cross_entropy_of(logits(), labels); }),
                   parameter);
      }
    });
  }
}

TEST_CASE("network: the spec builds the same network") {
  Network network = Network::load(kModels / "lenet.json", Device::cpu());
  Network again = Network::build(network.spec(), Device::cpu());
  CHECK(again.json() == network.json());
  const Tensor x = random_tensor({2, 1, 28, 28}, 1, Device::cpu(), 0, 1);
  CHECK(again.forward(x).to_vector() == network.forward(x).to_vector());
}

TEST_CASE("network: parameters() allocates no gradients") {
  Network network = Network::load(kModels / "lenet.json", Device::cpu());
  const uint64_t before = Device::cpu().memory().account().in_use;
  CHECK(!network.parameters().empty());
  CHECK(Device::cpu().memory().account().in_use == before);
  CHECK(network.gradients().values.size() == network.parameters().size());
  CHECK(Device::cpu().memory().account().in_use > before);
}

TEST_CASE("network: summarize() allocates no parameters") {
  const auto file = std::filesystem::temp_directory_path() /
                    ("kaiseki_summary_" + std::to_string(::getpid()) + ".json");
  std::ofstream(file) << network_json(
      {1, 100}, R"({"name": "f", "type": "fully_connected", "output_size": 1000000},
                   {"name": "a", "type": "relu"})");
  Allocator& memory = Device::cpu().memory();
  memory.trim();
  memory.reset_peak();
  const uint64_t before = memory.account().peak;
  const nn::NetworkSummary summary = nn::summarize(file);
  CHECK(memory.account().peak == before);
  std::filesystem::remove(file);
  CHECK(summary.input == Shape{100});
  CHECK(summary.output == Shape{1000000});
  REQUIRE(summary.layers.size() == 2);
  CHECK(summary.layers[0].parameters == 101000000);
}

TEST_CASE("network: outputs_logits() tells whether the output is logits") {
  auto gives = [](const std::string& layers, const std::string& more = "") {
    return Network::parse(R"({"inputs": {"x": {"shape": [5]}}, "layers": [{"name": "f", "type":
        "fully_connected", "output_size": 3})" +
                              layers + "]" + more + "}",
                          "test", Device::cpu())
        .outputs_logits();
  };
  const std::string cross_entropy = R"({"name": "l", "type": "softmax_cross_entropy"})";
  CHECK(gives(""));
  CHECK(gives(R"(, {"type": "relu"})"));
  CHECK_FALSE(gives(R"(, {"type": "softmax"})"));
  CHECK_FALSE(gives(", " + cross_entropy));
  CHECK(gives(", " + cross_entropy, R"(, "outputs": ["f"])"));
  CHECK_FALSE(gives(R"(, {"type": "softmax"}, )" + cross_entropy));
  CHECK_FALSE(gives(R"(, {"type": "mean_squared_error"})"));
  CHECK_FALSE(Network::load(kModels / "lenet.json", Device::cpu()).outputs_logits());
}

TEST_CASE("network: mean squared error of values and labels, and weighted sums of losses") {
  const std::string layers = R"({"name": "f", "type": "fully_connected", "output_size": 4},
      {"name": "s", "type": "sigmoid"}, {"name": "m", "type": "mean_squared_error"},
      {"name": "c", "type": "softmax_cross_entropy", "inputs": ["f"], "weight": 0.3, "phase": "train"})";
  const std::vector<int32_t> labels = {3, 1, 0};
  for_each_device([&](Device device) {
    Network network = Network::parse(network_json({3, 5}, layers), "test", device);
    randomize(network, 5);
    const Tensor x = random_tensor({3, 5}, 6, device, -3, 3);
    Parameters p = parameters_of(network);
    const Doubles input = doubles(x);
    auto squares = [&](const Doubles& logits) {
      double sum = 0;
      for (size_t i = 0; i < 12; ++i)
        sum += std::pow(logistic(logits[i]) - (static_cast<int32_t>(i % 4) == labels[i / 4]), 2);
      return sum / 12;
    };
    auto total = [&] {
      const Doubles logits = with_bias(linear(input, p.at("f.weight"), 5), p.at("f.bias"), 1);
      return squares(logits) + 0.3 * cross_entropy_of(logits, labels);
    };
    const Tensor targets = labels_of(labels, device);
    CHECK(network.forward_loss(x, targets).loss.item() == doctest::Approx(total()).epsilon(1e-5));
    const uint64_t sent = transfer_count().to_device;
    network.forward_loss(x, targets);
    CHECK(transfer_count().to_device == sent);
    network.zero_grad();
    network.backward();
    for (size_t i = 0; i < network.parameters().size(); ++i) {
      const std::string& parameter = network.parameters()[i].name;
      check_near(doubles(network.gradients().values[i]), differences(p.at(parameter), total),
                 parameter);
    }
    const Doubles logits = with_bias(linear(input, p.at("f.weight"), 5), p.at("f.bias"), 1);
    CHECK(network.forward_loss(x, targets, Phase::test).loss.item() ==
          doctest::Approx(squares(logits)).epsilon(1e-5));
    std::vector<float> one_hot(12);
    for (size_t i = 0; i < 3; ++i) one_hot[i * 4 + static_cast<size_t>(labels[i])] = 1;
    const Tensor values = Tensor::from(std::span<const float>(one_hot), {3, 4}, device);
    CHECK(network.forward_loss(x, values, Phase::test).loss.item() ==
          doctest::Approx(squares(logits)).epsilon(1e-5));
  });
}

TEST_CASE("network: gradients add up until zero_grad(), also in the test phase") {
  for_each_device([](Device device) {
    Network network = Network::load(kModels / "lenet-dag.json", device);
    const Tensor x = random_tensor({3, 1, 28, 28}, 1, device, 0, 1);
    const Tensor labels = labels_of({1, 2, 3}, device);
    network.zero_grad();
    network.forward_loss(x, labels);
    network.backward();
    const Doubles once = doubles(network.gradients().values[0]);
    std::vector<Doubles> all;
    for (const Tensor& gradient : network.gradients().values) all.push_back(doubles(gradient));
    network.forward_loss(x, labels, Phase::test);
    network.backward();
    check_close(network.gradients().values[0], map(once, [](double g) { return 2 * g; }), 1e-5,
                1e-6);
    network.zero_grad();  // the old values in memory are overwritten
    network.forward_loss(x, labels);
    network.backward();
    for (size_t i = 0; i < network.parameters().size(); ++i)
      check_close(network.gradients().values[i], all[i], 1e-5, 1e-6);
    network.zero_grad();
    for (float g : network.gradients().values[0].to_vector()) CHECK(g == 0);
  });
}

TEST_CASE("network: several inputs and outputs by name") {
  const std::string json = R"({"inputs": {"a": {"shape": [2]}, "b": {"shape": [2]}},
      "layers": [{"name": "sum", "type": "add", "inputs": ["a", "b"]},
                 {"name": "big", "type": "relu", "inputs": "sum"}],
      "outputs": {"first": "sum", "big": "big"}})";
  for_each_device([&](Device device) {
    Network network = Network::parse(json, "test", device);
    auto outputs = network.forward(
        {{"a", Tensor::from({1, -2}, {1, 2})}, {"b", Tensor::from({3, -4}, {1, 2})}}, Phase::test);
    CHECK(network.input_names() == std::vector<std::string>{"a", "b"});
    CHECK(network.output_names() == std::vector<std::string>{"first", "big"});
    CHECK(outputs.at("first").to_vector() == std::vector<float>{4, -6});
    CHECK(outputs.at("big").to_vector() == std::vector<float>{4, 0});
  });
}

TEST_CASE("network: a batch of one") {
  for_each_device([](Device device) {
    Network network = Network::load(kModels / "cifar.json", device);
    CHECK(network.forward(random_tensor({1, 3, 32, 32}, 1, device)).shape() == Shape{1, 10});
  });
}

TEST_CASE("network: LeNet learns, and training does not wait for the device") {
  for_each_device([](Device device) {
    Network network = Network::load(kModels / "lenet.json", device);
    nn::Optimizer optimizer;
    const Tensor x = random_tensor({16, 1, 28, 28}, 3, device, 0, 1);
    std::vector<int32_t> classes;
    for (int i = 0; i < 16; ++i) classes.push_back(i % 10);
    const Tensor labels = labels_of(classes, device);
    TransferCount before;
    Tensor first, last;
    for (int step = 0; step < 30; ++step) {
      network.zero_grad();
      last = network.forward_loss(x, labels).loss;
      network.backward();
      optimizer.step(network.parameters(), network.gradients(), 0.05);
      if (step == 0) first = last;
      if (step == 10) before = transfer_count();  // solvers are selected by now
    }
    CHECK(transfer_count().to_host == before.to_host);
    CHECK(first.item() == doctest::Approx(std::log(10.0)).epsilon(0.2));
    CHECK(last.item() < 0.5f * first.item());
  });
}

TEST_CASE("network: activations are freed after their last use") {
  Network network = Network::load(kModels / "cifar.json", Device::cpu());
  const Tensor x = random_tensor({16, 3, 32, 32}, 3);
  network.zero_grad();
  const uint64_t before = Device::cpu().memory().account().in_use;
  const Tensor labels = labels_of(std::vector<int32_t>(16, 1));
  Tensor loss = network.forward_loss(x, labels).loss;
  const uint64_t kept = Device::cpu().memory().account().in_use - before;
  // Inputs of conv2 and conv3, outputs and positions of three max poolings, and the input of fc4.
  // The output of conv1 is not stored.
  const uint64_t pooled = 16 * (16 * 16 * 16 + 20 * 8 * 8 + 20 * 4 * 4);
  CHECK(kept < 2 * 4 * pooled + 16'384);
  network.backward();
  CHECK(Device::cpu().memory().account().in_use - before < 16'384);
  network.forward(x);
  CHECK(Device::cpu().memory().account().in_use - before < 16'384);
}

TEST_CASE("network: the output of batch normalization is recomputed instead of stored") {
  Network network = Network::parse(network_json({1, 4, 16, 16}, R"(
        {"name": "b", "type": "batch_normalization"}, {"type": "relu"},
        {"name": "c", "type": "convolution", "output_channels": 1, "kernel_size": 1},
        {"type": "global_pooling"})"),
                                   "test", Device::cpu());
  const Tensor x = random_tensor({32, 4, 16, 16}, 3);
  network.zero_grad();
  const uint64_t before = Device::cpu().memory().account().in_use;
  const Tensor y = network.forward(x, Phase::train);
  CHECK(Device::cpu().memory().account().in_use - before <
        static_cast<uint64_t>(x.size()) * sizeof(float) / 2);
  network.backward(random_tensor(y.shape(), 4));
}

namespace {

constexpr const char* kTwoLayers = R"({"inputs": {"x": {"shape": [2, 5, 5]}}, "layers": [
    {"name": "c", "type": "convolution", "output_channels": 3, "kernel_size": 3},
    {"name": "b", "type": "batch_normalization"},
    {"name": "f", "type": "fully_connected", "output_size": 4}]})";

/// Trains with momentum. Gradients have their own memory or use the velocity's memory.
struct Momentum {
  Network network;
  nn::Optimizer optimizer;
  Tensor x, labels;
  explicit Momentum(Device device, double decay = 0)
      : network(Network::parse(kTwoLayers, "test", device)),
        optimizer({.weight_decay = decay}),
        x(random_tensor({6, 2, 5, 5}, 3, device, -1, 1)),
        labels(labels_of({0, 3, 1, 2, 2, 0}, device)) {
    randomize(network, 7);
  }
  void pass() {
    network.forward_loss(x, labels);
    network.backward();
  }
  void step(bool accumulate) {
    accumulate ? network.zero_grad(optimizer) : network.zero_grad();
    pass();
    optimizer.step(network.parameters(), network.gradients(), 0.05);
  }
  std::map<std::string, std::vector<float>> values() {
    std::map<std::string, std::vector<float>> result;
    for (const nn::Parameter& p : network.parameters()) result[p.name] = p.value.to_vector();
    for (const nn::State& s : optimizer.states(network.parameters()))
      result[s.name] = s.value.to_vector();
    return result;
  }
};

void check_same(Momentum& a, Momentum& b) {
  const auto expected = a.values();
  for (const auto& found : b.values()) {
    const std::vector<float>& values = found.second;
    CAPTURE(found.first);
    REQUIRE(expected.at(found.first).size() == values.size());
    for (size_t i = 0; i < values.size(); ++i)  // ten steps with another order of summation
      CHECK(values[i] == doctest::Approx(expected.at(found.first)[i]).epsilon(1e-4).scale(0.1));
  }
}

}  // namespace

TEST_CASE("network: accumulating gradients in the velocity gives the same steps in less memory") {
  for_each_device([](Device device) {
    for (const double decay : {0.0, 0.1}) {
      CAPTURE(decay);
      Momentum plain(device, decay), accumulated(device, decay), mixed(device, decay);
      for (int i = 0; i < 10; ++i) {
        plain.step(false);
        accumulated.step(true);
        mixed.step(i % 3 == 1);
      }
      check_same(plain, accumulated);
      check_same(plain, mixed);
      const auto velocities = accumulated.optimizer.states(accumulated.network.parameters());
      for (size_t i = 0; i < velocities.size(); ++i)  // shares the velocity's memory
        CHECK(accumulated.network.gradients().values[i].shares_storage_with(velocities[i].value));
    }
  });
}

TEST_CASE("network: after training with momentum, zero_grad() gives plain gradients again") {
  for_each_device([](Device device) {
    Momentum trained(device);
    for (int i = 0; i < 3; ++i) trained.step(true);
    const auto before = trained.values();
    trained.network.zero_grad();
    trained.pass();
    Momentum fresh(device);
    const auto parameters = trained.network.parameters();
    for (size_t i = 0; i < parameters.size(); ++i)
      copy_into(fresh.network.parameters()[i].value, parameters[i].value);
    fresh.network.zero_grad();
    fresh.pass();
    for (size_t i = 0; i < parameters.size(); ++i)
      CHECK(trained.network.gradients().values[i].to_vector() ==
            fresh.network.gradients().values[i].to_vector());
    CHECK(trained.values() == before);
  });
}

TEST_CASE(
    "network: a repeated zero_grad() keeps the velocity, and another optimizer's step throws") {
  Momentum one(Device::cpu()), other(Device::cpu());
  for (int i = 0; i < 2; ++i) one.step(true), other.step(true);
  one.network.zero_grad(one.optimizer);
  one.network.zero_grad(one.optimizer);
  for (Momentum* m : {&one, &other}) m->step(true);
  CHECK(one.values() == other.values());
  one.network.zero_grad(one.optimizer);
  one.pass();
  nn::Optimizer stranger;
  CHECK_THROWS_WITH_AS(
      stranger.step(one.network.parameters(), one.network.gradients(), 0.1),
      "[optimizer] the gradient of c.weight belongs to another optimizer; call zero_grad() of this "
      "one before the pass",
      ShapeError);
}
