// SPDX-License-Identifier: MIT
// Checks the settings of every layer. A network that states a default is the network without it.
// The error without a required setting names it.
#include <algorithm>
#include <type_traits>

#include "base/error.h"
#include "nn/network.h"
#include "nn/registry.h"
#include "tests/support/gradcheck.h"

using namespace kaiseki;

namespace {

static_assert(!std::is_default_constructible_v<nn::NumberRules>);  // a number states its bounds

bool is_loss(const std::string& type) { return nn::make_layer(type)->is_loss(); }

/// Returns a value that the setting allows.
Json allowed(const nn::Setting& setting) {
  return Json(std::clamp(2.0, setting.rules.low, setting.rules.high));
}

/// Returns a layer "q" of this type with its required settings.
Json layer_of(const std::string& type) {
  Json layer = Json::object();
  layer.set("name", "q").set("type", type);
  if (type == "add" || type == "concatenation") layer.set("inputs", Json::array({"a", "x"}));
  for (const nn::Setting& setting : nn::settings_of(*nn::make_layer(type)))
    if (setting.rules.required) layer.set(setting.name, allowed(setting));
  return layer;
}

nn::Network network_of(const Json& layer) {
  const Json first = Json::object().set("name", "a").set("type", "leaky_relu").set("slope", 0.3);
  const std::vector<Json> shape =
      is_loss(layer.find("type")->string) ? std::vector<Json>{4} : std::vector<Json>{4, 6, 5};
  Json input = Json::object();
  input.set("x", Json::object().set("shape", Json::array(shape)));
  const Json network =
      Json::object().set("inputs", input).set("layers", Json::array({first, layer}));
  return nn::Network::parse(format_json_line(network), "net.json", Device::cpu());
}

/// Returns the values of one step: loss or output, gradients, parameters, states.
std::vector<float> step_of(const Json& layer) {
  nn::Network network = network_of(layer);
  network.initialize(3);
  Shape shape{3};
  for (int64_t dim : network.input_shape()) shape.push_back(dim);
  const Tensor x = test::random_tensor(shape, 5);
  std::vector<float> all;
  const auto append = [&](const Tensor& t) {
    const std::vector<float> values = t.to_vector();
    all.insert(all.end(), values.begin(), values.end());
  };
  network.zero_grad();
  if (is_loss(layer.find("type")->string)) {
    const std::vector<int32_t> labels{0, 3, 1};
    append(network.forward_loss(x, Tensor::from(std::span<const int32_t>(labels), {3})).loss);
    network.backward();
  } else {
    const Tensor y = network.forward(x, nn::Phase::train);
    append(y);
    append(network.backward(test::random_tensor(y.shape(), 6)));
  }
  for (const nn::Parameter& parameter : network.parameters()) append(parameter.value);
  for (const nn::State& state : network.states()) append(state.value);
  return all;
}

}  // namespace

TEST_CASE("settings: a network that states a default is the network without it") {
  int defaults = 0;
  for (const std::string& type : nn::layer_types())
    for (const nn::Setting& setting : nn::settings_of(*nn::make_layer(type))) {
      CAPTURE(type);
      CAPTURE(setting.name);
      Json layer = layer_of(type);
      if (setting.rules.required) continue;
      const std::vector<float> omitted = step_of(layer);
      const std::string_view other = setting.rules.default_of;
      const Json* const shared = other.empty() ? nullptr : layer.find(other);
      layer.set(setting.name, shared ? Json(*shared) : setting.value);
      CHECK(step_of(layer) == omitted);
      ++defaults;
    }
  CHECK(defaults >= 28);
}

TEST_CASE("settings: the error without a required setting names it") {
  int required = 0;
  for (const std::string& type : nn::layer_types())
    for (const nn::Setting& setting : nn::settings_of(*nn::make_layer(type))) {
      if (!setting.rules.required) continue;
      CAPTURE(type);
      Json layer = layer_of(type);
      const auto at = std::find(layer.keys.begin(), layer.keys.end(), setting.name);
      layer.items.erase(layer.items.begin() + (at - layer.keys.begin()));
      layer.keys.erase(at);
      CHECK_THROWS_WITH_AS(network_of(layer), doctest::Contains(setting.name.c_str()), ParseError);
      ++required;
    }
  CHECK(required >= 4);
}
