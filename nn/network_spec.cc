// SPDX-License-Identifier: MIT
// Our network format: docs/network-json.md.
#include "nn/network_spec.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "nn/layer_params.h"

namespace kaiseki::nn {
namespace {

constexpr size_t kMaxLayers = 10'000;
constexpr size_t kMaxName = 128;

class NetworkJsonReader {
 public:
  NetworkJsonReader(const Json& document, std::string_view source)
      : document_(document), source_(source) {}

  NetworkSpec read() {
    allow(document_, "", {"name", "inputs", "layers", "outputs", "recipe"});
    spec_.source = source_;
    if (const Json* name = document_.find("name")) spec_.name = text(*name, "name");
    read_inputs();
    const Json* layers = document_.find("layers");
    if (!layers || !layers->is(Json::Kind::array) || layers->items.empty() ||
        layers->items.size() > kMaxLayers)
      fail("layers", "a list of 1 to 10000 layers", layers ? layers->describe() : "nothing");
    for (size_t i = 0; i < layers->items.size(); ++i)
      read_layer(layers->items[i], "layers[" + std::to_string(i) + "]", i);
    if (const Json* outputs = document_.find("outputs")) read_outputs(*outputs);
    if (const Json* recipe = document_.find("recipe")) spec_.recipe = read_recipe(*recipe, source_);
    return std::move(spec_);
  }

 private:
  [[noreturn]] void fail(const std::string& path, const std::string& expected,
                         const std::string& found) const {
    throw ParseError(source_, path, "expected " + expected + ", got " + found);
  }

  void allow(const Json& object, const std::string& path, const std::vector<std::string>& known) {
    for (const std::string& key : object.keys) {
      if (std::find(known.begin(), known.end(), key) == known.end())
        fail(path.empty() ? key : path + "." + key, "a known key",
             "\"" + key.substr(0, kMaxName) + "\"" + suggestion(key, known));
    }
  }

  std::string text(const Json& value, const std::string& path) const {
    if (!value.is(Json::Kind::string) || value.string.empty() || value.string.size() > kMaxName)
      fail(path, "a text of 1 to 128 bytes", value.describe());
    return value.string;
  }

  /// One name or a list of names, each of an input or of a layer above.
  std::vector<std::string> names(const Json& value, const std::string& path) const {
    if (!value.is(Json::Kind::array)) return {one_name(value, path)};
    std::vector<std::string> result;
    for (size_t i = 0; i < value.items.size(); ++i)
      result.push_back(one_name(value.items[i], path + "[" + std::to_string(i) + "]"));
    if (result.empty()) fail(path, "at least one name", "an empty list");
    return result;
  }

  std::string one_name(const Json& value, const std::string& path) const {
    const std::string name = text(value, path);
    if (!known_.contains(name))
      fail(path, "the name of an input or of a layer above",
           "\"" + name + "\"" + suggestion(name, {known_.begin(), known_.end()}));
    return name;
  }

  /// Reads names of layers, or an object that names each output.
  void read_outputs(const Json& outputs) {
    if (!outputs.is(Json::Kind::object)) {
      for (const std::string& name : names(outputs, "outputs")) add_output(name, name);
      return;
    }
    if (outputs.keys.empty()) fail("outputs", "at least one name", "an empty object");
    for (size_t i = 0; i < outputs.keys.size(); ++i) {
      const std::string path = "outputs." + outputs.keys[i].substr(0, kMaxName);
      add_output(text(Json(outputs.keys[i]), path), one_name(outputs.items[i], path));
    }
  }

  void add_output(const std::string& name, const std::string& layer) {
    for (const OutputSpec& other : spec_.outputs)
      if (other.name == name) fail("outputs", "each name once", "\"" + name + "\" again");
    spec_.outputs.push_back({name, layer});
  }

  void add_name(const std::string& name, const std::string& path) {
    if (!known_.insert(name).second) fail(path, "a name that is not taken", "\"" + name + "\"");
  }

  void read_inputs() {
    const Json* inputs = document_.find("inputs");
    if (!inputs || !inputs->is(Json::Kind::object) || inputs->items.empty())
      fail("inputs", "an object with at least one input", inputs ? inputs->describe() : "nothing");
    for (size_t i = 0; i < inputs->items.size(); ++i) {
      const Json& input = inputs->items[i];
      const std::string path = "inputs." + inputs->keys[i].substr(0, kMaxName);
      if (!input.is(Json::Kind::object)) fail(path, "an object", input.describe());
      allow(input, path, {"shape"});
      text(Json(inputs->keys[i]), path);
      add_name(inputs->keys[i], path);
      spec_.inputs.push_back({inputs->keys[i], path, shape(input.find("shape"), path + ".shape")});
    }
  }

  Shape shape(const Json* value, const std::string& path) const {
    const std::string expected = "a list of 1 to 7 integers from 1 to 16777216";
    if (!value || !value->is(Json::Kind::array) || value->items.empty() ||
        value->items.size() >= Shape::kMaxRank)
      fail(path, expected, value ? value->describe() : "nothing");
    Shape result;
    for (const Json& item : value->items) {
      if (!item.is_integer() || item.number < 1 || item.number > kMaxDimension)
        fail(path, expected, item.describe());
      result.push_back(static_cast<int64_t>(item.number));
    }
    return result;
  }

  void read_layer(const Json& layer, const std::string& path, size_t index) {
    if (!layer.is(Json::Kind::object)) fail(path, "an object", layer.describe());
    LayerSpec result;
    result.path = path;
    const Json* type = layer.find("type");
    result.type = text(type ? *type : Json(), path + ".type");
    const Json* name = layer.find("name");
    result.name = name ? text(*name, path + ".name") : result.type + std::to_string(index + 1);
    if (const Json* inputs = layer.find("inputs"))
      result.inputs = names(*inputs, path + ".inputs");
    else
      result.inputs = {index == 0 ? spec_.inputs[0].name : spec_.layers.back().name};
    if (const Json* phase = layer.find("phase")) {
      if (phase->string != "train" && phase->string != "test")
        fail(path + ".phase", "\"train\" or \"test\"", phase->describe());
      result.phase = phase->string == "train" ? Phase::train : Phase::test;
    }
    for (size_t i = 0; i < layer.keys.size(); ++i) {
      const std::string& key = layer.keys[i];
      if (key != "type" && key != "name" && key != "inputs" && key != "phase")
        result.params.set(key, layer.items[i]);
    }
    add_name(result.name, path + ".name");
    spec_.layers.push_back(std::move(result));
  }

  const Json& document_;
  std::string source_;
  NetworkSpec spec_;
  std::set<std::string> known_;
};

}  // namespace

NetworkSpec read_own_format(const Json& document, std::string_view source) {
  return NetworkJsonReader(document, source).read();
}

Json to_json(const NetworkSpec& spec) {
  Json document = Json::object(), inputs = Json::object(), layers = Json::array();
  for (const InputSpec& input : spec.inputs) {
    Json shape = Json::array();
    for (int64_t dim : input.shape) shape.items.emplace_back(dim);
    inputs.set(input.name, Json::object().set("shape", shape));
  }
  for (const LayerSpec& layer : spec.layers) {
    Json object = Json::object();
    object.set("name", layer.name).set("type", layer.type);
    Json from = Json::array();
    for (const std::string& name : layer.inputs) from.items.emplace_back(name);
    object.set("inputs", from);
    if (layer.phase) object.set("phase", *layer.phase == Phase::train ? "train" : "test");
    for (size_t i = 0; i < layer.params.keys.size(); ++i)
      object.set(layer.params.keys[i], layer.params.items[i]);
    layers.items.push_back(std::move(object));
  }
  if (spec.default_loss != NetworkSpec().default_loss)
    layers.items.push_back(Json::object().set("name", "loss").set("type", spec.default_loss));
  if (!spec.name.empty()) document.set("name", spec.name);
  document.set("inputs", inputs).set("layers", layers);
  if (!spec.outputs.empty()) {
    Json outputs = Json::array(), named = Json::object();
    for (const OutputSpec& output : spec.outputs) {
      outputs.items.emplace_back(output.name);
      named.set(output.name, output.layer);
    }
    document.set("outputs", outputs.items == named.items ? outputs : named);
  }
  if (Json recipe = to_json(spec.recipe); !recipe.items.empty())
    document.set("recipe", std::move(recipe));
  return document;
}

}  // namespace kaiseki::nn
