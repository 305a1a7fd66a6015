// SPDX-License-Identifier: MIT
// sukiyaki2's networks: a list of layers {name, type, params, inputs, outputs, phase}. Inputs and
// outputs name blobs. The layers that read data become the input, the labels and the recipe.
#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "matrix/ceil_div.h"
#include "nn/layer_params.h"
#include "nn/network_spec.h"
#include "nn/sukiyaki2_data.h"

namespace kaiseki::nn {
namespace {

constexpr size_t kMaxLayers = 10'000;
const std::vector<std::string> kTypes = {"accuracy",
                                         "batch_normalization",
                                         "blob_data",
                                         "branch",
                                         "convolution_2d",
                                         "data",
                                         "data_augmentation",
                                         "dropout",
                                         "linear",
                                         "loss",
                                         "mnist_data",
                                         "plus",
                                         "pooling_2d",
                                         "relu",
                                         "softmax_cross_entropy"};

/// An input or an output of a layer. `layer` is the name in our spec. It is empty for labels and
/// losses. A shape is of one sample, and rank 0 means unknown.
struct Blob {
  std::string layer;
  Shape shape;
};

class Sukiyaki2Reader {
 public:
  explicit Sukiyaki2Reader(std::string_view source) : source_(source), data_(source_) {
    spec_.source = source_;
  }

  NetworkSpec read(const Json& list) {
    if (list.items.empty() || list.items.size() > kMaxLayers)
      fail("", "a list of 1 to 10000 layers", list.describe());
    for (size_t i = 0; i < list.items.size(); ++i)
      read_layer(list.items[i], "[" + std::to_string(i) + "]");
    if (spec_.layers.empty()) fail("", "a layer that computes", "layers that read data only");
    if (spec_.layers.front().type == "softmax_cross_entropy" ||
        spec_.layers.front().type == "mean_squared_error")
      fail(spec_.layers.front().path, "a layer before the loss", "none");
    spec_.recipe = data_.recipe();
    return std::move(spec_);
  }

 private:
  /// A layer of the file, and its part of our spec.
  struct Layer {
    std::string name, path;
    std::string type = {};
    std::vector<std::string> inputs = {}, outputs = {};
    std::optional<Phase> phase = {};
    LayerSpec spec = {};
  };

  [[noreturn]] void fail(const std::string& path, const std::string& expected,
                         const std::string& found) const {
    throw ParseError(source_, path, "expected " + expected + ", got " + found);
  }

  std::vector<std::string> names(LayerParams& keys, const char* key, const std::string& path) {
    const Json* list = keys.value(key, true, "a list of names");
    std::vector<std::string> result;
    const auto fits = [](const Json& name) {
      return name.is(Json::Kind::string) && !name.string.empty() && name.string.size() <= 128;
    };
    if (!list->is(Json::Kind::array) || !std::ranges::all_of(list->items, fits))
      fail(path + "." + key, "a list of names of up to 128 bytes", list->describe());
    for (const Json& name : list->items) result.push_back(name.string);
    return result;
  }

  std::optional<Phase> phase(LayerParams& keys, const std::string& path) const {
    const Json* list = keys.optional("phase");
    if (!list || list->is(Json::Kind::null)) return {};
    std::set<std::string> phases;
    for (const Json& one : list->items) phases.insert(one.string);
    if (!list->is(Json::Kind::array) || phases.empty() ||
        phases.count("train") + phases.count("test") != phases.size())
      fail(path + ".phase", "a list of \"train\" and \"test\"", list->describe());
    if (phases.size() == 2) return {};
    return phases.contains("train") ? Phase::train : Phase::test;
  }

  void read_layer(const Json& item, const std::string& path) {
    if (!item.is(Json::Kind::object)) fail(path, "an object", item.describe());
    const Json* name = item.find("name");
    if (!name || !name->is(Json::Kind::string) || name->string.empty() || name->string.size() > 128)
      fail(path + ".name", "a name of up to 128 bytes", name ? name->describe() : "nothing");
    Layer layer{.name = name->string, .path = path};
    LayerParams keys(item, source_, path, layer.name, {"name", "params"});
    const Json* type = keys.value("type", true, "a type");
    layer.type = type->string;
    if (!std::binary_search(std::begin(kTypes), std::end(kTypes), layer.type))
      fail(path + ".type", "a type of sukiyaki2",
           type->describe() + suggestion(layer.type, kTypes));
    layer.inputs = names(keys, "inputs", path);
    layer.outputs = names(keys, "outputs", path);
    layer.phase = phase(keys, path);
    keys.finish();
    const Json none = Json::object();
    const Json* found = item.find("params");
    if (found && !found->is(Json::Kind::object))
      fail(path + ".params", "an object", found->describe());
    LayerParams params(found ? *found : none, source_, path + ".params", layer.name);
    add(layer, params);
    params.finish();
  }

  void add(Layer& layer, LayerParams& params) {
    if (layer.type == "accuracy") return;
    if (Sukiyaki2Data::reads(layer.type)) {
      data_.read(layer.type, layer.path, layer.inputs, layer.outputs, params);
      return;
    }
    if (layer.inputs.empty()) fail(layer.path + ".inputs", "a name", "none");
    if (layer.outputs.empty()) fail(layer.path + ".outputs", "a name", "none");
    if (layer.type == "branch") return branch(layer, params);
    layer.spec = {.name = layer.name, .path = layer.path};
    // A layer of one phase that writes its own input does nothing in the other phase. Ours too.
    const bool loss = layer.type == "softmax_cross_entropy" || layer.type == "loss";
    if (layer.phase && !loss && layer.outputs[0] != layer.inputs[0])
      fail(layer.path + ".phase", "both phases, because the output has another name than the input",
           "one phase");
    layer.spec.phase = layer.phase;
    if (layer.type == "linear") linear(layer, params);
    if (layer.type == "convolution_2d") convolution(layer, params);
    if (layer.type == "pooling_2d") pooling(layer, params);
    if (layer.type == "batch_normalization") batch_normalization(layer, params);
    if (layer.type == "relu") keep_shape(layer, "relu");
    if (layer.type == "dropout") {
      layer.spec.params.set("ratio", params.number("dropout_ratio", std::nullopt, 0, 0.999999));
      keep_shape(layer, "dropout");
    }
    if (layer.type == "plus") plus(layer, params);
    if (loss)
      finish(layer, layer.type == "loss" ? "mean_squared_error" : layer.type, {input(layer, 0)},
             {});
  }

  /// Returns the blob that a layer reads. The first blob of a data layer becomes the input.
  const Blob& input(const Layer& layer, size_t index, const Shape& known = {}) {
    const std::string& name = layer.inputs[index];
    const std::string path = layer.path + ".inputs[" + std::to_string(index) + "]";
    if (const auto found = blobs_.find(name); found != blobs_.end()) {
      if (found->second.layer.empty()) fail(path, "a layer's output", "the loss " + name);
      return found->second;
    }
    const Shape shape = data_.shape(name, known);
    if (shape.rank() == 0)
      fail(path, "the output of a layer above, or of a data layer with a shape", name);
    if (!spec_.inputs.empty()) fail(path, "one blob of data, " + spec_.inputs[0].name, name);
    spec_.inputs = {{name, path, shape}};
    names_.insert(name);
    return blobs_[name] = {name, shape};
  }

  void finish(Layer& layer, const std::string& type, const std::vector<Blob>& inputs,
              const Shape& output) {
    if (!names_.insert(layer.name).second)
      fail(layer.path + ".name", "a name that no other layer and no input has", layer.name);
    layer.spec.type = type;
    for (const Blob& one : inputs) layer.spec.inputs.push_back(one.layer);
    blobs_[layer.outputs[0]] = {output.rank() ? layer.name : "", output};
    spec_.layers.push_back(std::move(layer.spec));
  }

  void keep_shape(Layer& layer, const std::string& type) {
    const Blob from = input(layer, 0);
    finish(layer, type, {from}, from.shape);
  }

  void branch(Layer& layer, LayerParams& params) {
    const auto outputs = static_cast<int64_t>(layer.outputs.size());
    if (params.integer("n_output", outputs) != outputs)
      fail(layer.path + ".params.n_output", "the number of outputs", std::to_string(outputs));
    const Blob from = input(layer, 0);
    for (const std::string& name : layer.outputs) blobs_[name] = from;
  }

  void plus(Layer& layer, LayerParams& params) {
    const auto inputs = static_cast<int64_t>(layer.inputs.size());
    if (params.integer("n_input", inputs) != inputs)
      fail(layer.path + ".params.n_input", "the number of inputs", std::to_string(inputs));
    std::vector<Blob> from;
    for (size_t i = 0; i < layer.inputs.size(); ++i) from.push_back(input(layer, i));
    finish(layer, "add", from, from[0].shape);
  }

  void linear(Layer& layer, LayerParams& params) {
    Shape shape;
    const Json* list = params.optional("in_shape");
    if (list && (!list->is(Json::Kind::array) || list->items.empty() || list->items.size() > 3))
      params.fail("in_shape", "a list of 1 to 3 sizes", list->describe());
    for (size_t i = 0; list && i < list->items.size(); ++i) {
      const Json& size = list->items[i];
      if (!size.is_integer() || size.number < 1 || size.number > kMaxDimension)
        params.fail("in_shape", "sizes of 1 or more", size.describe());
      shape.push_back(static_cast<int64_t>(size.number));
    }
    // in_size has no effect beside in_shape.
    const int64_t size = params.integer("in_size", list ? std::optional<int64_t>(1) : std::nullopt);
    if (!list) shape = {size};
    if (shape.rank() == 3) shape = {shape[2], shape[0], shape[1]};
    const Blob from = input(layer, 0, shape);
    const std::string path = layer.path + ".params." + (list ? "in_shape" : "in_size");
    if (shape.rank() == from.shape.rank())
      for (int axis = 0; axis < shape.rank(); ++axis)
        layer.spec.checks.push_back({path, false, axis, shape[axis]});
    else
      layer.spec.checks.push_back({path, false, std::nullopt, shape.elements()});
    const int64_t outputs = params.integer("out_size", std::nullopt);
    layer.spec.params.set("output_size", outputs).set("weight_initializer", "lecun");
    finish(layer, "fully_connected", {from}, {outputs});
  }

  void set_pair(Layer& layer, const char* key, const std::array<int64_t, 2>& value) const {
    layer.spec.params.set(
        key, value[0] == value[1] ? Json(value[0]) : Json::array({value[0], value[1]}));
  }

  /// Returns the picture that a layer with windows reads.
  Blob picture(Layer& layer, int64_t channels) {
    const Blob from = input(layer, 0, Shape{channels, 0, 0});
    if (from.shape.rank() != 3)
      fail(layer.path + ".inputs[0]", "a blob of height, width and channels", from.shape.str());
    return from;
  }

  struct Window {
    std::array<int64_t, 2> size, stride, padding;
  };
  Window window(Layer& layer, LayerParams& params) const {
    const Window window{params.pair("ksize", std::nullopt, 1),
                        params.pair("stride", std::array<int64_t, 2>{1, 1}, 1),
                        params.pair("pad", std::array<int64_t, 2>{0, 0}, 0)};
    set_pair(layer, "kernel_size", window.size);
    if (window.stride != std::array<int64_t, 2>{1, 1} || layer.type == "pooling_2d")
      set_pair(layer, "stride", window.stride);
    if (window.padding != std::array<int64_t, 2>{0, 0}) set_pair(layer, "padding", window.padding);
    return window;
  }

  void convolution(Layer& layer, LayerParams& params) {
    const int64_t inputs = params.integer("in_size", std::nullopt);
    const Blob from = picture(layer, inputs);
    layer.spec.checks = {{layer.path + ".params.in_size", false, 0, inputs}};
    const int64_t outputs = params.integer("out_size", std::nullopt);
    layer.spec.params.set("output_channels", outputs);
    const Window how = window(layer, params);
    if (const int64_t groups = params.integer("group", 1); groups != 1)
      layer.spec.params.set("groups", groups);
    if (!params.boolean("bias", true)) layer.spec.params.set("bias", false);
    layer.spec.params.set("weight_initializer", "lecun");
    Shape output = {outputs, 0, 0};
    for (int i = 0; i < 2; ++i)
      output[i + 1] = std::max<int64_t>(
          0, (from.shape[i + 1] + 2 * how.padding[i] - how.size[i]) / how.stride[i] + 1);
    finish(layer, "convolution", {from}, output);
  }

  /// The number of windows is rounded up. Ours skips a window that begins in the padding.
  void pooling(Layer& layer, LayerParams& params) {
    const bool maximum = params.choice("type", std::nullopt, {"max", "average"}) == "max";
    const Blob from = picture(layer, 0);
    const Window how = window(layer, params);
    Shape output = from.shape;
    bool up = false;
    for (int i = 0; i < 2; ++i) {
      const int64_t free = from.shape[i + 1] + 2 * how.padding[i] - how.size[i];
      output[i + 1] = free < 0 ? 0 : ceil_div(free, how.stride[i]) + 1;
      const int64_t last = (output[i + 1] - 1) * how.stride[i];
      if (free < 0) continue;
      up = up || last > free;
      if (last >= from.shape[i + 1] + how.padding[i])
        fail(layer.path + ".params", "windows that begin before the padding", "a later one");
      if (!maximum && last > free)
        fail(layer.path + ".params", "windows of an average within the padding", "a larger one");
    }
    if (up) layer.spec.params.set("ceil_mode", true);
    if (!maximum && how.padding != std::array<int64_t, 2>{0, 0})
      layer.spec.params.set("count_padding", true);
    finish(layer, maximum ? "max_pooling" : "average_pooling", {from}, output);
  }

  /// target_dim counts from 1 in (height, width, channels), or is 1 for a row of numbers.
  void batch_normalization(Layer& layer, LayerParams& params) {
    const Blob from = input(layer, 0);
    const int64_t target = params.integer("target_dim", 1, 1, from.shape.rank());
    const int axis = from.shape.rank() == 3 ? static_cast<int>(target % 3) : 0;
    if (axis != 0) layer.spec.params.set("axis", axis);
    layer.spec.params.set("eps", params.number("eps", 1e-5, 1e-12, 1));
    layer.spec.checks = {
        {layer.path + ".params.in_size", false, axis, params.integer("in_size", std::nullopt)}};
    finish(layer, "batch_normalization", {from}, from.shape);
  }

  std::string source_;
  Sukiyaki2Data data_;
  NetworkSpec spec_;
  std::map<std::string, Blob> blobs_;
  std::set<std::string> names_;
};

}  // namespace

NetworkSpec read_sukiyaki2_format(const Json& document, std::string_view source) {
  return Sukiyaki2Reader(source).read(document);
}

bool is_sukiyaki2(const Json& document) {
  return document.is(Json::Kind::array) && !document.items.empty() &&
         document.items[0].find("outputs");
}

}  // namespace kaiseki::nn
