// SPDX-License-Identifier: MIT
// sukiyaki2's networks and weights. The files are written here from the format's description. The
// expected outputs are loops over arrays whose first index is the fastest.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "matrix/random.h"
#include "nn/network.h"
#include "nn/weights.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;
using nn::Network;

namespace {

using Floats = std::vector<float>;

/// {"name": name, "type": type, "inputs": inputs, "outputs": outputs, "params": params}
std::string layer(const std::string& name, const std::string& type, const std::string& inputs,
                  const std::string& outputs, const std::string& params = "",
                  const std::string& more = "") {
  return R"({"name": ")" + name + R"(", "type": ")" + type + R"(", "inputs": [)" + inputs +
         R"(], "outputs": [)" + outputs + R"(], "params": {)" + params + "}" + more + "}";
}

std::string data(const std::string& shape) {
  return layer("d", "blob_data", R"("batch")", R"("x", "label")",
               R"("file_prefix": "a", "data_shape": )" + shape);
}

Network parse(const std::string& layers) {
  return Network::parse("[" + layers + "]", "net.json", Device::cpu());
}

void check_problem(const std::string& layers, const std::string& expected) {
  std::string found = "no error";
  try {
    parse(layers);
  } catch (const ParseError& error) {
    found = error.what();
  }
  CHECK_MESSAGE(found.find(expected) != found.npos, found);
  CHECK(found.starts_with("net.json: "));
}

struct Stored {
  std::string key;
  Floats values;
};

/// A file of weights.
std::string weights_file(const std::vector<Stored>& tensors, size_t header_size = 1024) {
  std::string header = "{", body;
  for (const Stored& one : tensors) {
    const size_t size = one.values.size() * sizeof(float);
    header += (header.size() > 1 ? ",\"" : "\"") + one.key +
              "\":{\"offset\":" + std::to_string(header_size + body.size()) +
              ",\"size\":" + std::to_string(size) + "}";
    body.append(reinterpret_cast<const char*>(one.values.data()), size);
  }
  header += "}";
  REQUIRE(header.size() < header_size);
  header.resize(header_size);
  return header + body;
}

Floats random_values(size_t count, uint64_t seed) {
  Random random(seed);
  Floats values(count);
  for (float& value : values) value = random.uniform() - 0.5f;
  return values;
}

/// An array whose first index is the fastest.
struct ColumnMajor {
  std::vector<int64_t> sizes;
  Doubles values;
  ColumnMajor(std::vector<int64_t> dims, const Floats& from)
      : sizes(std::move(dims)), values(from.begin(), from.end()) {}
  template <class... Index>
  double& operator()(Index... index) {
    size_t place = 0, step = 1, axis = 0;
    for (const int64_t i : {static_cast<int64_t>(index)...}) {
      place += static_cast<size_t>(i) * step;
      step *= static_cast<size_t>(sizes[axis++]);
    }
    return values.at(place);
  }
};

/// Converts (h, w, c) to our [1, c, h, w].
Tensor to_ours(ColumnMajor& x) {
  Floats values;
  for (int64_t c = 0; c < x.sizes[2]; ++c)
    for (int64_t i = 0; i < x.sizes[0]; ++i)
      for (int64_t j = 0; j < x.sizes[1]; ++j) values.push_back(static_cast<float>(x(i, j, c)));
  return Tensor::from(std::span<const float>(values), {1, x.sizes[2], x.sizes[0], x.sizes[1]},
                      Device::cpu());
}

/// The layers of a network in our JSON, such as {"convolution", "relu"}.
std::vector<std::string> types_of(const Network& network) {
  std::vector<std::string> types;
  for (const nn::LayerSummary& one : network.summary()) types.push_back(one.type);
  return types;
}

/// Weights, as sukiyaki2's layers have them: convolutions (h, w, in, out), linear (in, out).
const std::vector<Stored> kWeights = {{"c/weight", random_values(3 * 2 * 2 * 3, 1)},
                                      {"c/bias", random_values(3, 2)},
                                      {"f/weight", random_values(4 * 3 * 3 * 5, 3)},
                                      {"f/bias", random_values(5, 4)}};
const std::string kNet =
    data("[5, 4, 2]") + ", " +
    layer("c", "convolution_2d", R"("x")", R"("y")",
          R"("in_size": 2, "out_size": 3, "ksize": [3, 2], "stride": [2, 1], "pad": [2, 0])") +
    ", " + layer("r", "relu", R"("y")", R"("y")") + ", " +
    layer("f", "linear", R"("y")", R"("z")", R"("in_shape": [4, 3, 3], "out_size": 5)");

}  // namespace

TEST_CASE("sukiyaki2: a network computes what its column-major weights mean") {
  Network network = parse(kNet);
  CHECK(network.input_shape() == Shape{2, 5, 4});
  const std::string file = weights_file(kWeights);
  const nn::LoadReport report = nn::load_weights(as_bytes(file), network);
  CHECK(report.matched.size() == 4);

  ColumnMajor x({5, 4, 2}, random_values(40, 5));
  ColumnMajor weight({3, 2, 2, 3}, kWeights[0].values), y({4, 3, 3}, Floats(36));
  for (int64_t o = 0; o < 3; ++o)
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 3; ++j) {
        double sum = double{kWeights[1].values[static_cast<size_t>(o)]};
        for (int64_t c = 0; c < 2; ++c)
          for (int64_t a = 0; a < 3; ++a)
            for (int64_t b = 0; b < 2; ++b)
              if (const int64_t row = 2 * i + a - 2; row >= 0 && row < 5)
                sum += weight(a, b, c, o) * x(row, j + b, c);
        y(i, j, o) = std::max(0.0, sum);
      }
  ColumnMajor matrix({36, 5}, kWeights[2].values);
  Doubles expected;
  for (int64_t o = 0; o < 5; ++o) {
    double sum = double{kWeights[3].values[static_cast<size_t>(o)]};
    for (int64_t i = 0; i < 36; ++i) sum += matrix(i, o) * y.values[static_cast<size_t>(i)];
    expected.push_back(sum);
  }
  check_close(network.forward(to_ours(x)), expected, 1e-5, 1e-5);
}

TEST_CASE("sukiyaki2: grouped convolutions read their weights") {
  Network network =
      parse(data("[3, 2, 4]") + ", " +
            layer("c", "convolution_2d", R"("x")", R"("y")",
                  R"("in_size": 4, "out_size": 2, "ksize": [3, 2], "group": 2, "bias": false)"));
  const std::vector<Stored> stored = {{"c/weight", random_values(3 * 2 * 2 * 2, 7)}};
  nn::load_weights(as_bytes(weights_file(stored)), network);
  ColumnMajor x({3, 2, 4}, random_values(24, 8)), weight({3, 2, 2, 2}, stored[0].values);
  Doubles expected(2);
  for (int64_t o = 0; o < 2; ++o)
    for (int64_t c = 0; c < 2; ++c)
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 2; ++j)
          expected[static_cast<size_t>(o)] += weight(i, j, c, o) * x(i, j, 2 * o + c);
  check_close(network.forward(to_ours(x)), expected, 1e-5, 1e-5);
}

TEST_CASE("sukiyaki2: data layers give the input's shape and the recipe") {
  std::string layers;
  for (const std::string phase : {"train", "test"}) {
    const std::string when = R"(, "phase": [")" + phase + "\"]";
    const std::string random = phase == "train" ? "true" : "false";
    layers +=
        layer("d_" + phase, "blob_data", R"("batch")", R"("raw", "label")",
              R"("file_prefix": "a", "data_shape": [256, 240, 3], "data_klass": "uint8")", when) +
        "," +
        layer("a_" + phase, "data_augmentation", R"("raw")", R"("x")",
              R"("out_shape": [33, 21], "scale": 0.00390625, "input_klass": "uint8",
                       "random_crop": )" +
                  random + R"(, "random_flip": )" + random,
              when) +
        ",";
  }
  layers +=
      layer("f", "linear", R"("x")", R"("y")", R"("in_shape": [33, 21, 3], "out_size": 4)") + "," +
      layer("l", "softmax_cross_entropy", R"("y", "label")", R"("loss")") + "," +
      layer("a", "accuracy", R"("y", "label")", R"("accuracy")", "", R"(, "phase": ["test"])");
  const Network network = parse(layers);
  CHECK(network.input_shape() == Shape{3, 33, 21});
  CHECK(types_of(network) == std::vector<std::string>{"fully_connected", "softmax_cross_entropy"});
  const nn::Recipe& recipe = network.recipe();
  CHECK(recipe.augment == "crop,flip");
  CHECK(recipe.resize == 240);
  REQUIRE(recipe.std);
  // sukiyaki2 multiplies bytes by the scale. We divide byte / 255 by std.
  for (const double byte : {0.0, 7.0, 255.0})
    CHECK(byte / 255 / (*recipe.std)[0] == doctest::Approx(byte * 0.00390625));
  // Our JSON of this network is the same network.
  const Network again = Network::parse(network.json(), "again", Device::cpu());
  CHECK(again.json() == network.json());
}

TEST_CASE("sukiyaki2: other readers of data") {
  const std::string linear =
      layer("f", "linear", R"("x")", R"("y")", R"("in_size": 784, "out_size": 10)");
  const Network mnist = parse(
      layer("d", "mnist_data", R"("batch")", R"("x", "label")", R"("data": "a", "label": "b")") +
      "," + linear);
  CHECK(mnist.input_shape() == Shape{1, 28, 28});
  CHECK(!mnist.recipe().std);
  CHECK(parse(linear).input_shape() == Shape{784});
  // The channels of the picture are those of its reader.
  const Network known =
      parse(layer("a", "data_augmentation", R"("raw")", R"("x")", R"("out_shape": [6, 5])") + "," +
            layer("c", "convolution_2d", R"("x")", R"("y")",
                  R"("in_size": 2, "out_size": 1, "ksize": 3)"));
  CHECK(known.input_shape() == Shape{2, 6, 5});
  CHECK(!known.recipe().resize);
  CHECK(!known.recipe().augment);
}

TEST_CASE("sukiyaki2: branch, plus, and layers that write their input") {
  Network network =
      parse(data("[3]") + "," +
            layer("f", "linear", R"("x")", R"("y")", R"("in_size": 3, "out_size": 3)") + "," +
            layer("b", "branch", R"("y")", R"("p", "q")", R"("n_output": 2)") + "," +
            layer("r", "relu", R"("p")", R"("p")") + "," +
            layer("s", "plus", R"("p", "q")", R"("z")", R"("n_input": 2)") + "," +
            layer("o", "dropout", R"("z")", R"("z")", R"("dropout_ratio": 0.5)",
                  R"(, "phase": ["train"])") +
            "," + layer("l", "loss", R"("z", "t")", R"("loss")"));
  CHECK(types_of(network) == std::vector<std::string>{"fully_connected", "relu", "add", "dropout",
                                                      "mean_squared_error"});
  nn::load_weights(
      as_bytes(weights_file({{"f/weight", {1, 0, 0, 0, -1, 0, 0, 0, 2}}, {"f/bias", {0, 0, 0}}})),
      network);
  const Tensor y = network.forward(Tensor::from({1, 2, 3}, {1, 3}, Device::cpu()));
  CHECK(y.to_vector() == Floats{2, -2, 12});  // y + max(0, y) of y = {1, -2, 6}
}

TEST_CASE("sukiyaki2: the number of pooling windows is rounded up") {
  for (const std::string type : {"max", "average"}) {
    const std::string params = R"("type": ")" + type + R"(", "ksize": )";
    const auto pooling = [&](const std::string& shape, const std::string& rest) {
      return data(shape) + "," + layer("p", "pooling_2d", R"("x")", R"("y")", params + rest);
    };
    CHECK(parse(pooling("[6, 4, 1]", R"(2, "stride": 2, "pad": 0)")).output_shape() ==
          Shape{1, 3, 2});
    CHECK(parse(pooling("[5, 4, 1]", R"([3, 2], "stride": 1, "pad": [1, 0])")).output_shape() ==
          Shape{1, 5, 3});
    if (type == "max")
      CHECK(parse(pooling("[5, 4, 1]", R"(2, "stride": 2, "pad": 0)")).output_shape() ==
            Shape{1, 3, 2});
    else
      check_problem(pooling("[5, 4, 1]", R"(2, "stride": 2, "pad": 0)"),
                    "[1].params: expected windows of an average within the padding");
    check_problem(pooling("[4, 4, 1]", R"(1, "stride": 3, "pad": 1)"),
                  "expected windows that begin before the padding");
  }
  // The padding counts in an average.
  Network network = parse(data("[2, 2, 1]") + "," +
                          layer("p", "pooling_2d", R"("x")", R"("y")",
                                R"("type": "average", "ksize": 2, "stride": 2, "pad": 1)"));
  const Tensor y = network.forward(Tensor::from({4, 8, 12, 16}, {1, 1, 2, 2}, Device::cpu()));
  CHECK(y.to_vector() == Floats{1, 2, 3, 4});
}

TEST_CASE("sukiyaki2: batch normalization along any dimension") {
  const auto net = [](const std::string& shape, int target, int size) {
    return parse(data(shape) + "," +
                 layer("b", "batch_normalization", R"("x")", R"("y")",
                       R"("eps": 0.01, "target_dim": )" + std::to_string(target) +
                           R"(, "in_size": )" + std::to_string(size)));
  };
  for (const auto& pair : {std::pair(1, 4), std::pair(2, 3), std::pair(3, 2)}) {
    const int target = pair.first, size = pair.second;
    CAPTURE(target);
    Network network = net("[4, 3, 2]", target, size);
    const auto count = static_cast<size_t>(size);
    const Floats gamma = random_values(count, 1), beta = random_values(count, 2);
    const std::string file = weights_file({{"b/gamma", gamma}, {"b/beta", beta}});
    const nn::LoadReport report = nn::load_weights(as_bytes(file), network, false);
    CHECK(report.matched == std::vector<std::string>{"b.weight", "b.bias"});
    CHECK(report.missing == std::vector<std::string>{"b.running_mean", "b.running_var"});
    ColumnMajor x({4, 3, 2}, random_values(24, 3)), y({4, 3, 2}, Floats(24));
    const auto at = [&](int64_t i, int64_t j, int64_t c) {
      return static_cast<size_t>(target == 1 ? i : target == 2 ? j : c);
    };
    Doubles sum(count), square(count);
    const auto each = [](auto f) {
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t j = 0; j < 3; ++j)
          for (int64_t c = 0; c < 2; ++c) f(i, j, c);
    };
    const double share = 24.0 / size;
    each([&](auto i, auto j, auto c) { sum[at(i, j, c)] += x(i, j, c) / share; });
    each([&](auto i, auto j, auto c) {
      square[at(i, j, c)] += std::pow(x(i, j, c) - sum[at(i, j, c)], 2) / share;
    });
    each([&](auto i, auto j, auto c) {
      const size_t k = at(i, j, c);
      y(i, j, c) =
          double{gamma[k]} * (x(i, j, c) - sum[k]) / std::sqrt(square[k] + 0.01) + double{beta[k]};
    });
    check_close(network.forward(to_ours(x), nn::Phase::train), doubles(to_ours(y)), 1e-4, 1e-5);
  }
  CHECK(net("[7]", 1, 7).output_shape() == Shape{7});
  CHECK_THROWS_WITH_AS(net("[4, 3, 2]", 3, 4), doctest::Contains("in_size"), ParseError);
  CHECK_THROWS_WITH_AS(net("[4, 3, 2]", 4, 4), doctest::Contains("target_dim"), ParseError);
}

TEST_CASE("sukiyaki2: invalid networks name the place") {
  const std::string relu = layer("r", "relu", R"("x")", R"("y")");
  check_problem(data("[4, 4, 1]"), "expected a layer that computes");
  check_problem(data("[4, 4, 1]") + "," + layer("r", "relo", R"("x")", R"("y")"),
                "[1].type: expected a type of sukiyaki2, got \"relo\", did you mean "
                "\"relu\"?");
  check_problem(relu,
                "[0].inputs[0]: expected the output of a layer above, or of a data layer "
                "with a shape, got x");
  check_problem(data("[4, 4, 1]") + "," + layer("r", "relu", R"("label")", R"("y")"), "got label");
  check_problem(data("[4, 4, 1]") + "," + relu + "," + relu, "[2].name: expected a name that no");
  check_problem(data("[4, 4, 1]") + "," + layer("x", "relu", R"("x")", R"("y")"), "[1].name");
  check_problem(data("[4, 4, 1]") + "," +
                    layer("r", "relu", R"("x")", R"("y")", "", R"(, "phase": ["train"])"),
                "[1].phase: expected both phases");
  check_problem(layer("d", "blob_data", R"("b")", R"("x")", "", R"(, "phase": ["never"])"),
                "[0].phase");
  check_problem(layer("d", "blob_data", R"("b")", R"("x")", R"("data_shape": [4, 0])"),
                "[0].params.data_shape");
  check_problem(data("[4, 4, 1]") + "," + data("[4, 5, 1]"),
                "expected pictures of shape [1, 4, 4]");
  check_problem(
      data("[4, 4, 1]") + "," +
          layer("a", "data_augmentation", R"("x")", R"("z")", R"("out_shape": [4, 4], "scale": 0)"),
      "[1].params.scale: layer a: expected a number above 0");
  check_problem(
      data("[4, 4, 1]") + "," +
          layer("f", "linear", R"("x")", R"("y")", R"("in_shape": [4, 2, 2], "out_size": 1)"),
      "[1].params.in_shape");
  check_problem(data("[4, 4, 3]") + "," +
                    layer("c", "convolution_2d", R"("x")", R"("y")",
                          R"("in_size": 1, "out_size": 1, "ksize": 3)"),
                "[1].params.in_size");
  check_problem(data("[4, 4, 3]") + "," +
                    layer("c", "convolution_2d", R"("x")", R"("y")",
                          R"("in_size": 3, "out_size": 1, "ksize": 3, "dilate": 2)"),
                "\"dilate\"");
  check_problem(
      data("[4, 4, 1]") + "," + layer("b", "branch", R"("x")", R"("p")", R"("n_output": 2)"),
      "[1].params.n_output");
  check_problem(data("[4, 4, 1]") + "," + layer("l", "loss", R"("x", "t")", R"("loss")") + "," +
                    layer("r", "relu", R"("loss")", R"("y")"),
                "[2].inputs[0]: expected a layer's output, got the loss loss");
  check_problem(R"({"outputs": []})", "[0].name: expected a name");
  check_problem(data("[4, 4, 1]") + ", 3", "[1]: expected an object");
}

TEST_CASE("sukiyaki2: weights of another network give a report or an error") {
  Network network = parse(kNet);
  std::vector<Stored> stored = kWeights;
  stored[3].values.pop_back();
  stored.push_back({"g/weight", {1}});
  const nn::LoadReport report = nn::load_weights(as_bytes(weights_file(stored)), network, false);
  CHECK(report.matched.size() == 3);
  CHECK(report.unexpected == std::vector<std::string>{"g.weight"});
  REQUIRE(report.mismatched.size() == 1);
  CHECK(report.mismatched[0].name == "f.bias");
  CHECK(report.mismatched[0].found == Shape{4});
  CHECK_THROWS_WITH_AS(nn::load_weights(as_bytes(weights_file(stored)), network),
                       doctest::Contains("g.weight"), Error);
}

TEST_CASE("sukiyaki2: the header of a weight file may be longer than 32,768 bytes") {
  Network network = parse(kNet);
  std::vector<Stored> stored;
  for (int i = 0; i < 1500; ++i) stored.push_back({"layer" + std::to_string(i) + "/weight", {1}});
  stored.insert(stored.end(), kWeights.begin(), kWeights.end());
  const std::string file = weights_file(stored, 81 * 1024);
  const nn::LoadReport report = nn::load_weights(as_bytes(file), network, false);
  CHECK(report.matched.size() == 4);
  CHECK(report.unexpected.size() == 1500);
}

TEST_CASE("sukiyaki2: damaged weights throw ParseError") {
  Network network = parse(kNet);
  const std::string whole = weights_file(kWeights);
  const auto check_damaged = [&](const std::string& bytes, const std::string& expected) {
    CAPTURE(expected);
    CHECK_THROWS_WITH_AS(nn::load_weights(as_bytes(bytes), network),
                         doctest::Contains(expected.c_str()), ParseError);
  };
  check_damaged(whole.substr(0, whole.size() - 1), "memory: header: \"f/bias\": expected values");
  check_damaged(whole.substr(0, 1024), "expected the offset in the file, got 1168");
  const auto edited = [&](const std::string& from, const std::string& to) {
    std::string bytes = whole;
    const size_t at = bytes.find(from);
    REQUIRE(at != bytes.npos);
    REQUIRE(from.size() == to.size());
    return bytes.replace(at, from.size(), to);
  };
  check_damaged(edited("\"size\":144", "\"size\":143"), "expected whole float32 values, got 143");
  check_damaged(edited("\"offset\":1168", "\"offset\":1164"), "expected values from byte 1168");
  check_damaged(edited("\"offset\":1024", "\"offset\":   3"), "expected values from byte");
  check_damaged(edited("\"offset\":1024", "\"offset\":-102"), "offset in the file");
  check_damaged(edited("\"offset\":1024", "\"offsed\":1024"), "got nothing");
  check_damaged(edited("{\"offset\":1024,", "[\"offset\",1024,"), "line 1");
  check_damaged(edited("\"size\":144", "\"size\":1.4"), "got 1.4");
  check_damaged("{}" + std::string(1022, '\0'), "expected weights, got none");
}
