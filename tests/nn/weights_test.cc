// SPDX-License-Identifier: MIT
#include "nn/weights.h"

#include <unistd.h>

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "matrix/ops/copy.h"
#include "nn/io/safetensors.h"
#include "nn/sukiyaki_values.h"
#include "nn/sukiyaki_weights.h"
#include "tests/support/gradcheck.h"

using namespace kaiseki;
using namespace kaiseki::test;
using nn::Network;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("kaiseki_weights_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

const std::string kConv =
    R"({"type": "conv", "name": "c", "params": {"input_rows": 4, "input_cols": 5,
    "input_depth": 2, "output_depth": 3, "window_size": 3, "padding": 0}})";
const std::string kFc =
    R"({"type": "fc", "name": "f", "params": {"input_size": 18, "output_size": 2}})";

std::vector<std::vector<float>> values_of(Network& network) {
  std::vector<std::vector<float>> values;
  for (const nn::Parameter& parameter : network.parameters())
    values.push_back(parameter.value.to_vector());
  for (const nn::State& state : network.states()) values.push_back(state.value.to_vector());
  return values;
}

std::string status(const std::vector<float>& w, const std::vector<float>& b) {
  return R"({"w": ")" + nn::encode_floats(w) + R"(", "b": ")" + nn::encode_floats(b) + "\"}";
}

std::vector<float> counted(size_t n, float from) {
  std::vector<float> values;
  for (size_t i = 0; i < n; ++i) values.push_back(from + static_cast<float>(i) / 16);
  return values;
}

}  // namespace

TEST_CASE("weights: every format keeps every bit") {
  Folder folder;
  const std::string json = "[" + kConv + "," + kFc + "]";
  for_each_device([&](Device device) {
    for (const char* name : {"w.safetensors", "w.tar", "w.json"}) {
      CAPTURE(name);
      Network network = Network::parse(json, "test", device);
      randomize(network, 3);
      nn::save_weights(folder.path / name, network);
      Network other = Network::parse(json, "test", device);
      other.initialize(99);
      const nn::LoadReport report = nn::load_weights(folder.path / name, other);
      CHECK(report.complete());
      CHECK(report.matched.size() == 4);
      CHECK(values_of(other) == values_of(network));
    }
  });
  Network network = Network::parse(json, "test", Device::cpu());
  CHECK_THROWS_AS(nn::save_weights(folder.path / "w.bin", network), Error);
}

TEST_CASE("weights: another format is refused by the names of the formats that are read") {
  Folder folder;
  Network network = Network::parse("[" + kConv + "]", "test", Device::cpu());
  const std::string garbage(600, 'x'), zeros(1024, '\0');
  for (const std::string& content : {std::string(), garbage, zeros})
    for (const char* name : {"w.safetensors", "w.tar", "w.gz", "w"}) {
      CAPTURE(content.size());
      CAPTURE(name);
      std::ofstream(folder.path / name, std::ios::binary) << content;
      const doctest::Contains expected(
          "expected weights as safetensors, JSON, ONNX, tar or tar.gz");
      CHECK_THROWS_WITH_AS(nn::load_weights(folder.path / name, network), expected, ParseError);
      CHECK_THROWS_WITH_AS(nn::load_weights(as_bytes(content), network), expected, ParseError);
    }
}

TEST_CASE("weights: safetensors and tar keep metadata") {
  Folder folder;
  Network network = Network::parse("[" + kConv + ", " + kFc + "]", "test", Device::cpu());
  const nn::Metadata metadata{{"class_names", "ein\nÄpfel"}, {"mean", "0.5"}};
  for (const char* name : {"w.safetensors", "w.tar"}) {
    nn::save_weights(folder.path / name, network, metadata);
    nn::Metadata found;
    CHECK(nn::load_weights(folder.path / name, network, true, &found).complete());
    CHECK(found["class_names"] == "ein\nÄpfel");
    CHECK(found["mean"] == "0.5");
  }
  nn::Metadata none;
  nn::save_weights(folder.path / "w.json", network, metadata);
  nn::load_weights(folder.path / "w.json", network, true, &none);
  CHECK(none.empty());
}

TEST_CASE("weights: states are saved, and Sukiyaki's format throws for layers without a form") {
  Folder folder;
  const std::string json =
      network_json({1, 3, 2, 2}, R"({"name": "b", "type": "batch_normalization"})");
  Network network = Network::parse(json, "test", Device::cpu());
  network.forward(random_tensor({4, 3, 2, 2}, 1), nn::Phase::train);
  nn::save_weights(folder.path / "w.safetensors", network);
  Network other = Network::parse(json, "test", Device::cpu());
  CHECK(nn::load_weights(folder.path / "w.safetensors", other).matched.size() == 4);
  CHECK(values_of(other) == values_of(network));
  CHECK_THROWS_WITH_AS(
      nn::save_weights(folder.path / "w.json", network),
      doctest::Contains("got layer b of type batch_normalization; use .safetensors"), Error);
}

TEST_CASE("weights: reads a file by Sukiyaki with one bias for each position") {
  const std::vector<float> w = counted(54, -1), fw = counted(36, -1), fb = {1, 2};
  std::vector<float> even, uneven = counted(18, 0);
  for (float c : {1.0f, 2.0f, 3.0f}) even.insert(even.end(), 6, c);
  auto json = [&](const std::vector<float>& bias) {
    return "{\"layer_params\": [" + kConv + "," + kFc + "], \"layer_status\": [" + status(w, bias) +
           "," + status(fw, fb) + "]}";
  };
  for_each_device([&](Device device) {
    Network channel = Network::parse(json(even), "test", device);
    CHECK(channel.has_weights());
    CHECK(channel.parameters()[0].value.to_vector() == w);
    CHECK(channel.parameters()[1].value.to_vector() == std::vector<float>{1, 2, 3});
    Network position = Network::parse(json(uneven), "test", device);
    CHECK(position.parameters()[1].value.shape() == Shape{3, 2, 3});
    CHECK(position.parameters()[1].value.to_vector() == uneven);
    // When they are written again, both have one bias for each position.
    for (Network* network : {&channel, &position}) {
      Network again = Network::parse(nn::to_sukiyaki(*network), "again", device);
      CHECK(values_of(again) == values_of(*network));
    }
  });
  CHECK_THROWS_AS(Network::parse(json(counted(17, 0)), "test", Device::cpu()), ParseError);
}

TEST_CASE("weights: loading into a changed network returns a report") {
  Folder folder;
  const fs::path file = folder.path / "w.safetensors";
  Network network = Network::parse(
      network_json({1, 4}, R"({"name": "a", "type": "fully_connected", "output_size": 3},
          {"name": "b", "type": "fully_connected", "output_size": 5})"),
      "old", Device::cpu());
  randomize(network, 1);
  nn::save_weights(file, network);
  Network changed = Network::parse(
      network_json({1, 4}, R"({"name": "a", "type": "fully_connected", "output_size": 3},
          {"name": "b", "type": "fully_connected", "output_size": 6, "bias": false},
          {"name": "c", "type": "fully_connected", "output_size": 1})"),
      "new", Device::cpu());
  const auto before = values_of(changed);
  CHECK_THROWS_AS(nn::load_weights(file, changed), Error);
  CHECK(values_of(changed) == before);
  const nn::LoadReport report = nn::load_weights(file, changed, false);
  CHECK(report.matched == std::vector<std::string>{"a.weight", "a.bias"});
  CHECK(report.missing == std::vector<std::string>{"c.weight", "c.bias"});
  CHECK(report.unexpected == std::vector<std::string>{"b.bias"});
  REQUIRE(report.mismatched.size() == 1);
  CHECK(report.mismatched[0].expected == Shape{6, 3});
  CHECK(report.mismatched[0].found == Shape{5, 3});
  CHECK(report.str().find("b.weight: expected shape [6, 3], got [5, 3]") != std::string::npos);
  CHECK(values_of(changed)[0] == values_of(network)[0]);
  CHECK(values_of(changed)[2] == before[2]);
}

TEST_CASE("weights: .json keeps a missing bias and constant position biases") {
  Folder folder;
  const fs::path file = folder.path / "w.json";
  const std::string json = network_json({1, 2, 4, 4}, R"(
      {"name": "c", "type": "convolution", "output_channels": 3, "kernel_size": 3,
       "bias": "position", "bias_initializer": {"type": "constant", "value": 0.5}},
      {"name": "f", "type": "fully_connected", "output_size": 5, "bias": false})");
  Network network = Network::parse(json, "test", Device::cpu());
  nn::save_weights(file, network);
  Network other = Network::parse(json, "test", Device::cpu());
  other.initialize(99);
  fill(other.parameters()[1].value, 7);
  CHECK(nn::load_weights(file, other).matched.size() == 3);
  CHECK(values_of(other) == values_of(network));

  std::ofstream(file) << "{\"layer_params\": [" + kFc + "], \"layer_status\": [" +
                             status(counted(36, 0), {0, 1}) + "]}";
  Network plain = Network::parse(
      network_json({1, 18},
                   R"({"name": "f", "type": "fully_connected", "output_size": 2, "bias": false})"),
      "test", Device::cpu());
  CHECK(nn::load_weights(file, plain, false).unexpected == std::vector<std::string>{"f.bias"});
}

TEST_CASE("weights: recognizes safetensors if the header's length begins like JSON") {
  Folder folder;
  const fs::path file = folder.path / "w";
  Network network = Network::parse("[" + kFc + "]", "test", Device::cpu());
  for (size_t length : {31520, 23328}) {  // " {" and " ["
    CAPTURE(length);
    std::vector<nn::NamedTensor> tensors = nn::weights_to_save(network);
    const size_t plain = load_le<uint64_t>(
        nn::encode_safetensors(tensors, {{"note", std::string(20000, '-')}}).data());
    nn::write_safetensors(file, tensors, {{"note", std::string(20000 + length - plain, '-')}});
    Network other = Network::parse("[" + kFc + "]", "test", Device::cpu());
    other.initialize(99);
    CHECK(nn::load_weights(file, other).complete());
    CHECK(values_of(other) == values_of(network));
  }
}

TEST_CASE("weights: NaN and infinite values are not saved in any format") {
  Folder folder;
  Network network = Network::parse("[" + kFc + "]", "test", Device::cpu());
  network.parameters()[1].value.mutable_data<float>()[1] = NAN;
  for (const char* name : {"n.safetensors", "n.tar", "n.json"}) {
    CHECK_THROWS_WITH_AS(nn::save_weights(folder.path / name, network),
                         "[save] expected finite weights, got nan in f.bias[1]", Error);
    CHECK(!fs::exists(folder.path / name));
  }
}

TEST_CASE("weights: a flipped bit never changes what a .tar or .json file gives") {
  Network network = Network::parse("[" + kFc + "]", "test", Device::cpu());
  randomize(network, 3);
  Network other = Network::parse("[" + kFc + "]", "test", Device::cpu());
  for (const char* format : {"tar", "json"}) {
    CAPTURE(format);
    const ByteVector whole = nn::encode_weights(format, network);
    nn::load_weights(whole, other);
    CHECK(values_of(other) == values_of(network));
    ByteVector damaged = whole;
    for (size_t at = 0; at < whole.size(); ++at)
      for (int bit = 0; bit < 8; bit += 3) {
        damaged[at] ^= std::byte{1} << bit;
        other.initialize(99);
        try {
          CAPTURE(at);
          nn::load_weights(damaged, other);
          CHECK(values_of(other) == values_of(network));
        } catch (const Error&) {
        }
        damaged[at] ^= std::byte{1} << bit;
      }
  }
  std::string text(as_text(nn::encode_weights("json", network)));
  const size_t digit = text.find("\"w\"") + 20;
  text[digit] = text[digit] == 'A' ? 'B' : 'A';
  CHECK_THROWS_WITH_AS(
      nn::load_weights(as_bytes(text), other),
      doctest::Contains("layer_status[0]: the values of layer f do not have their sha256"),
      ParseError);
}

TEST_CASE("weights: a checksum of a layer without bias in a .json file") {
  const std::vector<float> w = counted(54, -1);
  const std::string values =
      "{\"w\": \"" + nn::encode_floats(w) + "\", \"sha256\": \"" + nn::checksum_of(w, {}) + "\"}";
  Network network = Network::parse(
      "{\"layer_params\": [" + kConv + "," + kFc + "], \"layer_status\": [" + values + ", {}]}",
      "test", Device::cpu());
  CHECK(network.parameters()[0].value.to_vector() == w);
  CHECK(network.parameters()[1].value.shape() == Shape{3});
}

TEST_CASE("weights: a pipe is read once, in every format") {
  Network network = Network::parse("[" + kFc + "]", "test", Device::cpu());
  randomize(network, 3);
  for (const char* format : {"safetensors", "tar", "json"}) {
    CAPTURE(format);
    const ByteVector bytes = nn::encode_weights(format, network);
    REQUIRE(bytes.size() < 65536);  // a pipe holds 64 KiB
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    REQUIRE(::write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    ::close(ends[1]);
    Network other = Network::parse("[" + kFc + "]", "test", Device::cpu());
    other.initialize(99);
    nn::load_weights("/dev/fd/" + std::to_string(ends[0]), other);
    ::close(ends[0]);
    CHECK(values_of(other) == values_of(network));
  }
}

TEST_CASE("weights: damaged files throw ParseError") {
  Folder folder;
  Network network = Network::parse("[" + kFc + "]", "test", Device::cpu());
  for (const std::string& bytes : {std::string(), std::string("{}"), std::string("[1]"),
                                   std::string(600, 'x'), "[" + kFc + "]"}) {
    std::ofstream(folder.path / "w", std::ios::binary) << bytes;
    CHECK_THROWS_AS(nn::load_weights(folder.path / "w", network), Error);
  }
  CHECK_THROWS_AS(nn::load_weights(folder.path / "nothing", network), Error);
}
