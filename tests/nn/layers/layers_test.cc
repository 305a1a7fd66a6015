// SPDX-License-Identifier: MIT
// Gradient checks of simple layers.
#include <cmath>
#include <limits>

#include "base/text.h"
#include "nn/layers/activation.h"
#include "tests/support/activation.h"
#include "tests/support/gradcheck.h"
#include "tests/support/layer_reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("fully_connected: with and without bias, of pictures, with an activation") {
  check_layers(R"({"name": "f", "type": "fully_connected", "output_size": 5})", {3, 7},
               [](const Doubles& x, const Parameters& p) {
                 return with_bias(linear(x, p.at("f.weight"), 7), p.at("f.bias"), 1);
               });
  check_layers(
      R"({"name": "f", "type": "fully_connected", "output_size": 1, "bias": false})", {2, 3, 5, 1},
      [](const Doubles& x, const Parameters& p) { return linear(x, p.at("f.weight"), 15); });
  check_layers(R"({"name": "f", "type": "fully_connected", "output_size": 17}, {"type": "relu"})",
               {1, 13}, [](const Doubles& x, const Parameters& p) {
                 return map(with_bias(linear(x, p.at("f.weight"), 13), p.at("f.bias"), 1), relu);
               });
}

TEST_CASE("max_pooling, average_pooling, global_pooling") {
  check_layers(R"({"type": "max_pooling", "kernel_size": 2})", {2, 3, 5, 7},
               [](const Doubles& x, const Parameters&) {
                 return pooling({6, 5, 7, 2, 3, {2, 2}, {2, 2}}, x);
               });
  check_layers(
      R"({"type": "max_pooling", "kernel_size": [3, 2], "stride": [2, 1], "padding": [1, 0]})",
      {1, 2, 6, 5}, [](const Doubles& x, const Parameters&) {
        return pooling({2, 6, 5, 3, 4, {3, 2}, {2, 1}, {1, 0}}, x);
      });
  check_layers(R"({"type": "max_pooling", "kernel_size": 3, "stride": 2, "ceil_mode": true})",
               {1, 1, 6, 6}, [](const Doubles& x, const Parameters&) {
                 return pooling({1, 6, 6, 3, 3, {3, 3}, {2, 2}}, x);
               });
  for (bool all : {false, true}) {
    check_layers(std::string(R"({"type": "average_pooling", "kernel_size": 3, "stride": 2,)") +
                     R"("padding": 1, "count_padding": )" + (all ? "true}" : "false}"),
                 {2, 1, 5, 7}, [&](const Doubles& x, const Parameters&) {
                   return pooling({2, 5, 7, 3, 4, {3, 3}, {2, 2}, {1, 1}, false, all}, x);
                 });
  }
  for (bool maximum : {false, true}) {
    check_layers(std::string(R"({"type": "global_pooling", "kind": )") +
                     (maximum ? "\"max\"}" : "\"average\"}"),
                 {2, 3, 5, 3}, [&](const Doubles& x, const Parameters&) {
                   return pooling({6, 5, 3, 1, 1, {5, 3}, {5, 3}, {0, 0}, maximum}, x);
                 });
  }
}

TEST_CASE("relu, leaky_relu, sigmoid, tanh, softmax, flatten") {
  const Shape shape = {3, 2, 5};
  auto check = [&](const std::string& type, const std::function<double(double)>& f) {
    check_layers("{\"type\": " + type + "}", shape,
                 [&](const Doubles& x, const Parameters&) { return map(x, f); });
  };
  check("\"relu\"", relu);
  check("\"leaky_relu\", \"slope\": 0.2", [](double v) { return v > 0 ? v : 0.2 * v; });
  check("\"sigmoid\"", logistic);
  check("\"sigmoid\", \"gain\": 2", [](double v) { return (std::tanh(v) + 1) / 2; });
  check("\"tanh\"", [](double v) { return std::tanh(v); });
  check("\"flatten\"", [](double v) { return v; });
  for (auto [dims, inner] : std::vector<std::pair<Shape, int64_t>>{{{3, 7}, 1}, {{2, 7, 2, 3}, 6}})
    check_layers(
        R"({"type": "softmax"})", dims,
        [inner = inner](const Doubles& x, const Parameters&) { return softmax_of(x, 7, inner); });
}

TEST_CASE("batch_normalization: uses the batch's statistics in training") {
  for (const Shape& shape : {Shape{4, 3}, Shape{3, 2, 3, 5}}) {
    const int64_t inner = shape.elements() / shape[0] / shape[1];
    check_layers(R"({"name": "b", "type": "batch_normalization", "eps": 0.01})", shape,
                 [&](const Doubles& x, const Parameters& p) {
                   return batch_norm(x, shape[1], inner, p.at("b.weight"), p.at("b.bias"), 0.01);
                 });
  }
}

TEST_CASE("batch_normalization: normalizes along any axis") {
  const auto layer = [](const std::string& axis) {
    return R"({"name": "b", "type": "batch_normalization", "eps": 0.01, "axis": )" + axis + "}";
  };
  struct Case {
    std::string axis;
    int64_t size, inner;
  };
  const auto tangent = [](double v) { return std::tanh(v); };
  const std::map<std::string, std::function<double(double)>> next = {
      {"", [](double v) { return v; }},
      {R"(, {"type": "relu"})", relu},
      {R"(, {"type": "tanh"})", tangent}};
  for (const Case& c : {Case{"1", 5, 2}, Case{"2", 2, 1}})
    for (const auto& one : next) {
      const Shape shape{3, 7, 5, 2};
      const std::function<double(double)> f = one.second;
      check_layers(layer(c.axis) + one.first, shape, [&](const Doubles& x, const Parameters& p) {
        return map(batch_norm(x, c.size, c.inner, p.at("b.weight"), p.at("b.bias"), 0.01), f);
      });
      check_layers(
          layer(c.axis) + one.first, shape,
          [&](Doubles x, const Parameters& p) {
            for (size_t i = 0; i < x.size(); ++i) {
              const size_t k = i / static_cast<size_t>(c.inner) % static_cast<size_t>(c.size);
              x[i] = f(p.at("b.weight")[k] * x[i] / std::sqrt(1.01) + p.at("b.bias")[k]);
            }
            return x;
          },
          nn::Phase::test);
    }
  CHECK_THROWS_WITH_AS(
      nn::Network::parse(network_json({3, 7, 5}, layer("2")), "test", Device::cpu()),
      doctest::Contains("expected an input with axis 2, got [7, 5]"), Error);
}

TEST_CASE("batch_normalization: its output is recomputed for the layers that read it") {
  const std::string bn = R"({"name": "b", "type": "batch_normalization", "eps": 0.01})";
  const std::string fc = R"({"name": "f", "type": "fully_connected", "output_size": 2})";
  const auto normalized = [](const Doubles& x, const Parameters& p, const std::string& name) {
    return batch_norm(x, 3, 2, p.at(name + ".weight"), p.at(name + ".bias"), 0.01);
  };
  const auto outputs = [](const Doubles& x, const Parameters& p) {
    return with_bias(linear(x, p.at("f.weight"), 6), p.at("f.bias"), 1);
  };
  const auto tangent = [](double v) { return std::tanh(v); };
  for (const std::string type : {"relu", "tanh"}) {
    const std::function<double(double)> f = type == "relu" ? relu : tangent;
    check_layers(bn + ", {\"type\": \"" + type + "\"}, " + fc, {5, 3, 2},
                 [&](const Doubles& x, const Parameters& p) {
                   return outputs(map(normalized(x, p, "b"), f), p);
                 });
    // A recomputed output that depends on a recomputed output.
    check_layers(bn + ", {\"type\": \"" + type +
                     R"("}, {"name": "d", "type": "batch_normalization", "eps": 0.01}, )" + fc,
                 {5, 3, 2}, [&](const Doubles& x, const Parameters& p) {
                   return outputs(normalized(map(normalized(x, p, "b"), f), p, "d"), p);
                 });
  }
  check_layers(
      bn + ", {\"type\": \"relu\"}, " + fc, {5, 3, 2},
      [&](Doubles x, const Parameters& p) {
        for (size_t i = 0; i < x.size(); ++i) {
          const size_t c = i / 2 % 3;
          x[i] = relu(p.at("b.weight")[c] * x[i] / std::sqrt(1.01) + p.at("b.bias")[c]);
        }
        return outputs(x, p);
      },
      nn::Phase::test);
}

TEST_CASE("batch_normalization: updates running statistics and uses them in the test phase") {
  for_each_device([](Device device) {
    nn::Network network = nn::Network::parse(
        network_json({1, 1, 2}, R"({"name": "b", "type": "batch_normalization"})"), "test", device);
    network.forward(Tensor::from({1, 3, 5, 7}, {2, 1, 2}, device), nn::Phase::train);
    // mean 4, unbiased variance 20 / 3, each with factor 0.1
    CHECK(network.states()[0].name == "b.running_mean");
    CHECK(network.states()[0].value.to_vector()[0] == doctest::Approx(0.4));
    CHECK(network.states()[1].value.to_vector()[0] == doctest::Approx(0.9 + 2.0 / 3));
  });
  check_layers(R"({"name": "b", "type": "batch_normalization"})", {2, 3, 2, 2},
               [](const Doubles& x, const Parameters& p) {
                 Doubles y;
                 for (size_t i = 0; i < x.size(); ++i)
                   y.push_back(p.at("b.weight")[i / 4 % 3] * x[i] / std::sqrt(1 + 1e-5) +
                               p.at("b.bias")[i / 4 % 3]);
                 return y;
               },
               nn::Phase::test);
}

TEST_CASE("local_response_normalization: windows are truncated at both ends") {
  for (int64_t size : {1, 3, 5, 4}) {
    check_layers(R"({"type": "local_response_normalization", "alpha": 0.5, "beta": 0.6, "k": 2, )" +
                     ("\"size\": " + std::to_string(size)) + "}",
                 {2, 4, 3, 1}, [&](const Doubles& x, const Parameters&) {
                   return response_norm(x, 4, 3, size, 0.5, 0.6, 2);
                 });
  }
}

TEST_CASE("fan-out adds gradients; add and concatenation") {
  check_layers(
      R"({"name": "a", "type": "tanh"}, {"name": "b", "type": "sigmoid", "inputs": ["x"]},
         {"name": "c", "type": "add", "inputs": ["a", "b", "x"]},
         {"name": "d", "type": "relu", "inputs": ["c"]},
         {"name": "e", "type": "add", "inputs": ["d", "c"]})",
      {3, 5}, [](const Doubles& x, const Parameters&) {
        return map(x, [](double v) {
          const double c = std::tanh(v) + logistic(v) + v;
          return relu(c) + c;
        });
      });
  check_layers(
      R"({"name": "a", "type": "convolution", "output_channels": 3, "kernel_size": 1},
         {"name": "b", "type": "concatenation", "inputs": ["x", "a", "x"]})",
      {2, 2, 3, 1}, [](const Doubles& x, const Parameters& p) {
        const Doubles a =
            with_bias(convolution({2, 2, 3, 1, 3, 1, 1}, x, p.at("a.weight")), p.at("a.bias"), 3);
        Doubles y;
        for (size_t n = 0; n < 2; ++n) {
          y.insert(y.end(), x.begin() + n * 6, x.begin() + n * 6 + 6);
          y.insert(y.end(), a.begin() + n * 9, a.begin() + n * 9 + 9);
          y.insert(y.end(), x.begin() + n * 6, x.begin() + n * 6 + 6);
        }
        return y;
      });
}

TEST_CASE("add: fuses an activation, of two and of three inputs") {
  for (Activation kind : kActivations) {
    if (kind == Activation::none) continue;
    for (bool three : {false, true})
      check_layers(
          text_from(
              R"({"name": "h", "type": "sigmoid", "gain": 0.5}, {"type": "add", "inputs": ["h", "x")",
              three ? R"(, "h")" : "", R"(]}, {"type": ")", activation_name(kind), "\"}"),
          {3, 5}, [&](const Doubles& x, const Parameters&) {
            return map(x, [&](double v) {
              return activate((three ? 2 : 1) * logistic(v / 2) + v, kind, 0.01);
            });
          });
  }
}

TEST_CASE("an activation's formula: only the variable x is replaced") {
  CHECK(nn::with_x("max(-1, min(x, 1))", "(a + b)") == "max(-1, min((a + b), 1))");
  CHECK(nn::with_x("x < 0 ? slope * x : exp(x1) + x_", "x") == "x < 0 ? slope * x : exp(x1) + x_");
  CHECK(nn::with_x("", "y").empty());
}

TEST_CASE("activations: NaN stays NaN, also after a layer that fuses them") {
  for_each_device([](Device device) {
    const Tensor x =
        Tensor::from({std::numeric_limits<float>::quiet_NaN(), 2, 3, 4}, Shape{1, 2, 1, 2}, device);
    for (Activation kind : kActivations) {
      if (kind == Activation::none) continue;
      const std::string layer = text_from(R"({"type": ")", activation_name(kind), "\"}");
      INFO(layer);
      for (const std::string before : {"", R"({"type": "add", "inputs": ["x", "x"]}, )",
                                       R"({"type": "convolution", )"
                                       R"("output_channels": 1, "kernel_size": 1}, )",
                                       R"({"type": "fully_connected", "output_size": 3}, )"}) {
        nn::Network network =
            nn::Network::parse(network_json({1, 2, 1, 2}, before + layer), "test", device);
        const std::vector<float> y = network.forward(x, nn::Phase::test).to_vector();
        CHECK(std::isnan(y[0]));
      }
    }
  });
}

TEST_CASE("dropout: forward and backward share a mask, each step has its own, tests have none") {
  for_each_device([](Device device) {
    nn::Network network = nn::Network::parse(
        network_json({1, 1000}, R"({"type": "dropout", "ratio": 0.25})"), "test", device);
    const Tensor ones = Tensor::full({3, 1000}, 1, device);
    CHECK(network.forward(ones).to_vector() == ones.to_vector());
    const uint64_t position = network.random_position();
    const std::vector<float> mask = network.forward(ones, nn::Phase::train).to_vector();
    const std::vector<float> dx = network.backward(ones).to_vector();
    CHECK(mask == dx);
    int dropped = 0;
    for (float m : mask) {
      CHECK((m == 0 || m == 1 / 0.75f));
      dropped += m == 0;
    }
    CHECK(std::abs(dropped - 750) < 120);  // five standard deviations
    CHECK(network.forward(ones, nn::Phase::train).to_vector() != mask);
    network.set_random_position(position);
    CHECK(network.forward(ones, nn::Phase::train).to_vector() == mask);
  });
}
