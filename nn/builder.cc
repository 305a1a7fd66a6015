// SPDX-License-Identifier: MIT
#include "nn/builder.h"

#include "base/error.h"

namespace kaiseki::nn {

NetworkBuilder::NetworkBuilder(std::string name) {
  if (!name.empty()) document_.set("name", std::move(name));
}

Value NetworkBuilder::input(const std::string& name, const Shape& shape) {
  Json dimensions = Json::array();
  for (const int64_t dim : shape) dimensions.items.emplace_back(dim);
  inputs_.keys.push_back(name);
  inputs_.items.push_back(Json::object().set("shape", std::move(dimensions)));
  return {this, name};
}

const std::string& NetworkBuilder::own(const Value& value) const {
  if (value.owner_ != this)
    throw Error(message("builder", "expected a value of this builder, got '", value.name(),
                        "' of another builder"));
  return value.name();
}

Value NetworkBuilder::add(const std::string& type, LayerSettings settings) {
  return add_layer(type, Json(), settings);
}

Value NetworkBuilder::add(const std::string& type, const Value& input, LayerSettings settings) {
  return add_layer(type, Json(own(input)), settings);
}

Value NetworkBuilder::add(const std::string& type, std::initializer_list<Value> inputs,
                          LayerSettings settings) {
  Json names = Json::array();
  for (const Value& input : inputs) names.items.emplace_back(own(input));
  return add_layer(type, names, settings);
}

Value NetworkBuilder::add_layer(const std::string& type, const Json& inputs,
                                LayerSettings settings) {
  const std::string number = std::to_string(layers_.items.size() + 1);
  Json layer = Json::object().set("type", type).set("name", type + number);
  if (!inputs.is(Json::Kind::null)) layer.set("inputs", inputs);
  for (const auto& [name, value] : settings) layer.set(name, value);
  const std::string name = layer.find("name")->string;
  layers_.items.push_back(std::move(layer));
  return {this, name};
}

void NetworkBuilder::output(const std::string& name, const Value& value) {
  outputs_.keys.push_back(name);
  outputs_.items.emplace_back(own(value));
}

NetworkSpec NetworkBuilder::spec() const {
  Json document = document_;
  document.set("inputs", inputs_).set("layers", layers_);
  if (!outputs_.keys.empty()) document.set("outputs", outputs_);
  const Json* name = document.find("name");
  return read_own_format(document, name ? name->string : "network");
}

Network NetworkBuilder::build(Device device) const { return Network::build(spec(), device); }

}  // namespace kaiseki::nn
