// SPDX-License-Identifier: MIT
// Gradient checks: a network against the same function as plain loops in double. The gradients of
// sum(weights * output) must match the central differences of that function.
#pragma once

#include <map>

#include "nn/network.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

namespace kaiseki::test {

/// The parameters of a network by name, as doubles.
using Parameters = std::map<std::string, Doubles>;
/// Maps the input, row-major, to the output.
using Function = std::function<Doubles(const Doubles& x, const Parameters& p)>;

inline Parameters parameters_of(nn::Network& network) {
  Parameters values;
  for (const nn::Parameter& parameter : network.parameters())
    values[parameter.name] = doubles(parameter.value);
  return values;
}

/// Sets values that differ from all defaults, also for biases and scales.
inline void randomize(nn::Network& network, uint64_t seed) {
  for (nn::Parameter& parameter : network.parameters()) {
    const Tensor values =
        random_tensor(parameter.value.shape(), ++seed, Device::cpu(), -0.9f, 0.9f);
    const float* from = values.data<float>();
    std::copy(from, from + values.size(), parameter.value.overwrite<float>());
  }
}

/// d f / d values. f reads `values` by reference.
inline Doubles differences(Doubles& values, const std::function<double()>& f) {
  constexpr double kStep = 1e-5;  // error of about step^2, far below that of f32
  Doubles result;
  for (double& value : values) {
    const double at = value;
    value = at + kStep;
    const double above = f();
    value = at - kStep;
    result.push_back((above - f()) / (2 * kStep));
    value = at;
  }
  return result;
}

/// f32 with sums of up to a few hundred terms of size about 1.
inline void check_near(const Doubles& actual, const Doubles& expected, const std::string& what) {
  CAPTURE(what);
  double largest = 1;
  for (double value : expected) largest = std::max(largest, std::abs(value));
  check_close(actual, expected, 1e-4, 1e-5 * largest);
}

/// Compares output, gradient of the input and gradients of all parameters.
inline void check_gradients(Device device, const std::string& json, const Shape& shape,
                            const Function& reference, nn::Phase phase = nn::Phase::train,
                            uint64_t seed = 11) {
  nn::Network network = nn::Network::parse(json, "test", device);
  randomize(network, seed);
  const Tensor x = random_tensor(shape, seed + 100, device, -2, 2);
  Doubles input = doubles(x);
  Parameters parameters = parameters_of(network);

  const Tensor y = network.forward(x, phase);
  check_near(doubles(y), reference(input, parameters), "output");

  const Tensor gy = random_tensor(y.shape(), seed + 200, device);
  const Doubles weights = doubles(gy);
  auto value = [&] {
    const Doubles output = reference(input, parameters);
    double sum = 0;
    for (size_t i = 0; i < output.size(); ++i) sum += weights[i] * output[i];
    return sum;
  };
  network.zero_grad();
  const Tensor gx = network.backward(gy);
  check_near(doubles(gx), differences(input, value), "gradient of the input");
  CHECK(gx.shape() == x.shape());
  for (size_t i = 0; i < network.parameters().size(); ++i) {
    const std::string& name = network.parameters()[i].name;
    check_near(doubles(network.gradients().values[i]), differences(parameters.at(name), value),
               "gradient of " + name);
  }
}

/// "{"inputs": {"x": {"shape": [...]}}, "layers": [...]}" for a sample's shape.
inline std::string network_json(const Shape& shape, const std::string& layers) {
  std::string dims = shape.str();
  return R"({"inputs": {"x": {"shape": [)" + dims.substr(dims.find(',') + 1) +
         R"(}}, "layers": [)" + layers + "]}";
}

/// Checks on every device; `shape` has the batch in front.
inline void check_layers(const std::string& layers, const Shape& shape, const Function& reference,
                         nn::Phase phase = nn::Phase::train) {
  CAPTURE(layers);
  for_each_device([&](Device device) {
    check_gradients(device, network_json(shape, layers), shape, reference, phase);
  });
}

}  // namespace kaiseki::test
