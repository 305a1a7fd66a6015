// SPDX-License-Identifier: MIT
// Sukiyaki's list format, as in figure 5 of the paper and in files of Sukiyaki v1: conv, pool, fc,
// act.
#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "nn/layer_params.h"
#include "nn/network_spec.h"
#include "nn/sukiyaki_values.h"

namespace kaiseki::nn {
namespace {

constexpr size_t kMaxLayers = 10'000;
const std::vector<std::string> kKeys = {"layer_params", "layer_status", "name", "recipe"};

class SukiyakiReader {
 public:
  SukiyakiReader(const Json& document, std::string_view source) : source_(source) {
    if (document.is(Json::Kind::array)) {
      list_ = &document;
      return;
    }
    for (const std::string& key : document.keys) {
      if (std::ranges::find(kKeys, key) == kKeys.end())
        fail(key, "a known key", "\"" + key.substr(0, 64) + "\"" + suggestion(key, kKeys));
    }
    list_ = document.find("layer_params");
    list_path_ = "layer_params";
    status_ = document.find("layer_status");
    if (const Json* name = document.find("name")) spec_.name = name->string;
    if (const Json* recipe = document.find("recipe")) spec_.recipe = read_recipe(*recipe, source);
  }

  NetworkSpec read() {
    spec_.source = source_;
    const bool named = list_->is(Json::Kind::object);
    if ((!named && !list_->is(Json::Kind::array)) || list_->items.empty() ||
        list_->items.size() > kMaxLayers)
      fail(list_path_, "a list of 1 to 10000 layers", list_->describe());
    if (status_ &&
        (!status_->is(Json::Kind::array) || status_->items.size() != list_->items.size()))
      fail("layer_status", "a list with one entry for each layer", status_->describe());
    for (size_t i = 0; i < list_->items.size(); ++i) {
      const std::string index = "[" + std::to_string(i) + "]";
      read_layer(list_->items[i], named ? list_->keys[i] : "",
                 named ? list_path_ + "." + list_->keys[i].substr(0, 64) : list_path_ + index, i);
      if (status_) read_status(status_->items[i], "layer_status" + index);
    }
    if (spec_.layers.back().type == "sigmoid") spec_.default_loss = "mean_squared_error";
    return std::move(spec_);
  }

 private:
  [[noreturn]] void fail(const std::string& path, const std::string& expected,
                         const std::string& found) const {
    throw ParseError(source_, path, "expected " + expected + ", got " + found);
  }

  void read_layer(const Json& layer, std::string name, const std::string& path, size_t index) {
    if (!layer.is(Json::Kind::object)) fail(path, "an object", layer.describe());
    LayerParams keys(layer, source_, path, name.empty() ? std::to_string(index + 1) : name,
                     {"name", "params"});
    const std::string type = keys.choice("type", "", {"conv", "pool", "fc", "act"});
    keys.finish();
    if (type.empty()) fail(path + ".type", "one of conv pool fc act", "nothing");
    if (const Json* given = layer.find("name")) name = given->string;
    if (name.empty()) name = type + std::to_string(index + 1);
    if (name.size() > 128 || !names_.insert(name).second || name == kInput)
      fail(path + ".name", "a name of up to 128 bytes that is not taken",
           "\"" + name.substr(0, 128) + "\"");

    const Json none = Json::object();
    const Json* found = layer.find("params");
    if (found && !found->is(Json::Kind::object))
      fail(path + ".params", "an object", found->describe());
    LayerParams params(found ? *found : none, source_, path + ".params", name);
    LayerSpec spec{.name = name, .path = path};
    spec.inputs = {index == 0 ? kInput : spec_.layers.back().name};
    if (type == "conv") read_conv(params, spec);
    if (type == "pool") read_pooling(params, spec);
    if (type == "fc") read_fc(params, spec);
    if (type == "act") read_act(params, spec);
    params.finish();
    if (index == 0 && spec_.inputs.empty())
      fail(path + ".type", "a first layer that gives its input's size", type);
    spec_.layers.push_back(std::move(spec));
  }

  /// Reads the three dimensions of the input picture.
  void read_picture(LayerParams& params, LayerSpec& spec) {
    Shape shape;
    for (const char* key : {"input_depth", "input_rows", "input_cols"}) {
      const int64_t value = params.integer(key, std::nullopt);
      spec.checks.push_back({spec.path + ".params." + key, false, shape.rank(), value});
      shape.push_back(value);
    }
    if (spec_.layers.empty()) spec_.inputs = {{kInput, spec.path, shape}};
  }

  void read_conv(LayerParams& params, LayerSpec& spec) {
    read_picture(params, spec);
    spec.type = "convolution";
    spec.params.set("output_channels", params.integer("output_depth", std::nullopt))
        .set("kernel_size", params.integer("window_size", std::nullopt))
        .set("padding", params.integer("padding", 0, 0))
        .set("weight_initializer", "lecun");
    if (const int64_t stride = params.integer("stride", 1); stride != 1)
      spec.params.set("stride", stride);
    optional_output(params, spec);
  }

  void read_pooling(LayerParams& params, LayerSpec& spec) {
    read_picture(params, spec);
    spec.type = "max_pooling";
    const int64_t window = params.integer("window_size", std::nullopt);
    spec.params.set("kernel_size", window).set("stride", params.integer("stride", window));
    optional_output(params, spec);
  }

  void optional_output(LayerParams& params, LayerSpec& spec) {
    int axis = 1;
    for (const char* key : {"output_rows", "output_cols"}) {
      if (const int64_t value = params.integer(key, 0); value > 0)
        spec.checks.push_back({spec.path + ".params." + key, true, axis, value});
      ++axis;
    }
  }

  void read_fc(LayerParams& params, LayerSpec& spec) {
    const int64_t inputs = params.integer("input_size", std::nullopt);
    spec.type = "fully_connected";
    spec.checks.push_back({spec.path + ".params.input_size", false, std::nullopt, inputs});
    if (spec_.layers.empty()) spec_.inputs = {{kInput, spec.path, {inputs}}};
    spec.params.set("output_size", params.integer("output_size", std::nullopt))
        .set("weight_initializer", "lecun");
  }

  void read_act(LayerParams& params, LayerSpec& spec) {
    const std::string kind =
        params.choice("activation_type", "", {"sigmoid", "tanh", "relu", "softmax"});
    if (kind.empty()) params.fail("activation_type", "one of sigmoid tanh relu softmax", "nothing");
    spec.type = kind == "tanh" ? "sigmoid" : kind;
    if (kind == "tanh") spec.params.set("gain", 2);
  }

  void read_status(const Json& status, const std::string& path) {
    LayerSpec& layer = spec_.layers.back();
    if (!status.is(Json::Kind::object)) fail(path, "an object", status.describe());
    const bool trained = layer.type == "convolution" || layer.type == "fully_connected";
    std::map<std::string, std::vector<float>> values;
    for (size_t i = 0; i < status.keys.size(); ++i) {
      const std::string& key = status.keys[i];
      const std::string at = path + "." + key.substr(0, 64);
      if (!trained || (key != "w" && key != "b" && key != "sha256"))
        fail(at, trained ? "the keys w, b and sha256" : "an empty object",
             "\"" + key.substr(0, 64) + "\"");
      if (!status.items[i].is(Json::Kind::string))
        fail(at, key == "sha256" ? "a text" : "Base64 in quotes", status.items[i].describe());
      if (key != "sha256") values[key] = decode_floats(status.items[i].string, source_ + ": " + at);
    }
    const auto values_of = [&values](const char* key) -> const std::vector<float>& {
      static const std::vector<float> none;
      const auto found = values.find(key);
      return found == values.end() ? none : found->second;
    };
    const Json* const sum = status.find("sha256");
    if (sum && sum->string != checksum_of(values_of("w"), values_of("b")))
      throw ParseError(source_, path,
                       "the values of layer " + layer.name +
                           " do not have their sha256: the file "
                           "is damaged, or another program changed it and kept sha256");
    for (const auto& [key, parameter] : {std::pair("w", "weight"), std::pair("b", "bias")})
      if (const auto found = values.find(key); found != values.end())
        layer.weights.push_back({parameter, path + "." + key, std::move(found->second)});
    if (layer.type == "convolution" && bias_varies(layer)) layer.params.set("bias", "position");
  }

  /// Returns true if there is a bias for each position, and it varies within a channel.
  bool bias_varies(LayerSpec& layer) const {
    const auto channels = static_cast<size_t>(layer.params.find("output_channels")->number);
    for (InlineWeights& weights : layer.weights) {
      if (weights.parameter != "bias" || weights.values.size() == channels) continue;
      if (!bias_per_channel(weights.values, channels)) return true;
    }
    return false;
  }

  static inline const std::string kInput = "input";
  std::string source_, list_path_;
  const Json* list_ = nullptr;
  const Json* status_ = nullptr;
  NetworkSpec spec_;
  std::set<std::string> names_;
};

}  // namespace

NetworkSpec read_sukiyaki_format(const Json& document, std::string_view source) {
  return SukiyakiReader(document, source).read();
}

}  // namespace kaiseki::nn
