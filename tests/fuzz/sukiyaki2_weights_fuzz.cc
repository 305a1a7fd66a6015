// SPDX-License-Identifier: MIT
// sukiyaki2's files of weights, and by their content every other format. They load or throw Error.
#include "nn/weights.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki;

namespace {

constexpr const char* kNet = R"([
  {"name": "c", "type": "convolution_2d", "inputs": ["x"], "outputs": ["y"],
   "params": {"in_size": 1, "out_size": 1, "ksize": [2, 1]}},
  {"name": "f", "type": "linear", "inputs": ["y"], "outputs": ["z"],
   "params": {"in_shape": [2, 2, 1], "out_size": 1}}])";

/// The network's input is a picture of 3 x 2.
nn::Network make_network() {
  const std::string data =
      R"([{"name": "d", "type": "data", "inputs": [], "outputs": ["x"],
           "params": {"data_shape": [3, 2, 1]}},)";
  return nn::Network::parse(data + std::string(kNet).substr(1), "fuzz", Device::cpu());
}

}  // namespace

KAISEKI_FUZZ(bytes) {
  static nn::Network network = make_network();
  nn::load_weights(bytes, network, false);
}
