// SPDX-License-Identifier: MIT
// NetworkBuilder: writes a network in C++ instead of JSON. Both have the same types of layers, the
// same settings and the same errors (docs/network-cpp.md).
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "base/json.h"
#include "nn/network.h"
#include "nn/network_spec.h"

namespace kaiseki::nn {

class NetworkBuilder;

/// An input of a network, or the output of a layer.
class Value {
 public:
  const std::string& name() const { return name_; }

 private:
  friend class NetworkBuilder;
  Value(const NetworkBuilder* owner, std::string name) : owner_(owner), name_(std::move(name)) {}
  const NetworkBuilder* owner_;
  std::string name_;
};

/// The settings of a layer as in JSON, also "name" and "phase": {{"kernel_size", 3}}.
using LayerSettings = std::initializer_list<std::pair<const char*, Json>>;

class NetworkBuilder {
 public:
  explicit NetworkBuilder(std::string name = "");
  NetworkBuilder(const NetworkBuilder&) = delete;
  NetworkBuilder& operator=(const NetworkBuilder&) = delete;

  /// Adds an input. The shape is of one sample, such as {3, 32, 32}.
  Value input(const std::string& name, const Shape& shape);
  /// Adds a layer after the last layer, or after the first input.
  Value add(const std::string& type, LayerSettings settings = {});
  /// Adds a layer after others. Throws Error for a value of another builder.
  Value add(const std::string& type, const Value& input, LayerSettings settings = {});
  Value add(const std::string& type, std::initializer_list<Value> inputs,
            LayerSettings settings = {});
  /// Names an output. Without a call, the output is as docs/network-json.md says.
  void output(const std::string& name, const Value& value);

  /// Returns the network's spec. Throws ParseError, with the place as in JSON ("layers[2].type").
  NetworkSpec spec() const;
  /// Builds the network. Its parameters are initialized from seed 0. Throws as spec(), and also
  /// ParseError for layers that do not fit together.
  Network build(Device device = default_device()) const;

 private:
  /// The value's name, if the value is of this builder.
  const std::string& own(const Value& value) const;
  Value add_layer(const std::string& type, const Json& inputs, LayerSettings settings);
  Json document_ = Json::object(), inputs_ = Json::object(), layers_ = Json::array(),
       outputs_ = Json::object();
};

}  // namespace kaiseki::nn
