// SPDX-License-Identifier: MIT
// A network as an ONNX graph: what its test phase computes, with operators of set 13.
#include <limits>
#include <map>
#include <set>

#include "matrix/error.h"
#include "nn/graph.h"
#include "nn/io/file.h"
#include "nn/io/protobuf.h"
#include "nn/io/tensor_bytes.h"
#include "nn/layers/pooling.h"
#include "nn/onnx/onnx.h"

namespace kaiseki::nn {
namespace {

constexpr int64_t kIrVersion = 7, kOpset = 13;
constexpr int64_t kFloat = 1, kInteger = 2, kIntegers = 7;  // AttributeProto.AttributeType
constexpr int64_t kMaxFile = std::numeric_limits<int32_t>::max();

/// A node, of which the attributes come last.
class NodeWriter {
 public:
  NodeWriter(std::string_view type, std::string_view name, const std::vector<std::string>& inputs,
             std::string_view output) {
    for (const std::string& input : inputs) node_.text(1, input);
    node_.text(2, output).text(3, name).text(4, type);
  }
  NodeWriter& integer(std::string_view name, int64_t value) {
    return attribute(ProtoWriter().text(1, name).integer(3, value).integer(20, kInteger));
  }
  NodeWriter& number(std::string_view name, double value) {
    return attribute(
        ProtoWriter().text(1, name).number(2, static_cast<float>(value)).integer(20, kFloat));
  }
  NodeWriter& integers(std::string_view name, std::initializer_list<int64_t> values) {
    ProtoWriter writer;
    writer.text(1, name);
    for (int64_t value : values) writer.integer(8, value);
    return attribute(std::move(writer.integer(20, kIntegers)));
  }
  ProtoWriter take() { return std::move(node_); }

 private:
  NodeWriter& attribute(ProtoWriter value) {
    node_.message(5, std::move(value));
    return *this;
  }
  ProtoWriter node_;
};

ProtoWriter value_info(std::string_view name, const Shape& sample) {
  ProtoWriter shape;
  shape.message(1, ProtoWriter().text(2, "N"));
  for (int64_t dim : sample) shape.message(1, ProtoWriter().integer(1, dim));
  ProtoWriter tensor;
  tensor.integer(1, kFloat).message(2, std::move(shape));
  ProtoWriter value, type;
  type.message(1, std::move(tensor));
  value.text(1, name).message(2, std::move(type));
  return value;
}

ProtoWriter tensor_message(std::string_view name, const Shape& shape, ByteView values) {
  ProtoWriter tensor;
  for (int64_t dim : shape) tensor.integer(1, dim);
  tensor.integer(2, kFloat).text(8, name).bytes(9, values);
  return tensor;
}

class Exporter {
 public:
  explicit Exporter(Network& network)
      : graph_(build_graph(parse_network(network.json(), network.name()))) {
    for (const Parameter& parameter : network.parameters())
      tensors_[parameter.name] = for_file(parameter.value);
    for (const State& state : network.states()) tensors_[state.name] = for_file(state.value);
  }

  ProtoWriter write(const Metadata& metadata) {
    find_needed();
    for (const InputSpec& input : graph_.spec.inputs) names_.push_back(free_name(input.name));
    for (size_t i = 0; i < graph_.nodes.size(); ++i) add(i);
    ProtoWriter graph;
    for (ProtoWriter& node : nodes_) graph.message(1, std::move(node));
    graph.text(2, graph_.spec.name.empty() ? "network" : graph_.spec.name);
    for (ProtoWriter& initializer : initializers_) graph.message(5, std::move(initializer));
    for (size_t i = 0; i < graph_.spec.inputs.size(); ++i)
      graph.message(11, value_info(names_[i], graph_.spec.inputs[i].shape));
    for (int output : graph_.outputs)
      graph.message(12, value_info(name_of(output), graph_.shape_of(output)));
    ProtoWriter model;
    model.integer(1, kIrVersion).text(2, "kaiseki").message(7, std::move(graph));
    model.message(8, ProtoWriter().text(1, "").integer(2, kOpset));
    Metadata all = metadata;
    if (trains_on_squares()) all["loss"] = "mean_squared_error";
    for (const auto& [key, value] : all)
      model.message(14, ProtoWriter().text(1, key).text(2, value));
    if (model.size() > kMaxFile)
      throw Error(
          message("onnx", "expected a network of at most 2 GiB, got ", format_bytes(model.size())));
    return model;
  }

 private:
  [[noreturn]] static void refuse(const Node& node, const std::string& expected) {
    throw Error(
        message("onnx", "expected ", expected, ", got layer ", node.name, " of type ", node.type));
  }

  bool passed_over(const Node& node) const {
    return node.phase == Phase::train || node.layer->is_loss();
  }

  /// What the outputs need, from behind; the test phase goes past layers of training.
  void find_needed() {
    needed_.assign(graph_.spec.inputs.size() + graph_.nodes.size(), false);
    for (int output : graph_.outputs) needed_[static_cast<size_t>(output)] = true;
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      if (!needed_[static_cast<size_t>(graph_.value_of(i))]) continue;
      const std::vector<int>& inputs = graph_.nodes[i].inputs;
      const size_t count = passed_over(graph_.nodes[i]) ? 1 : inputs.size();
      for (size_t k = 0; k < count; ++k) needed_[static_cast<size_t>(inputs[k])] = true;
    }
  }

  std::string free_name(const std::string& wish) {
    std::string name = wish;
    for (int i = 2; !taken_.insert(name).second; ++i) name = wish + "_" + std::to_string(i);
    return name;
  }

  const std::string& name_of(int value) const { return names_[static_cast<size_t>(value)]; }

  bool trains_on_squares() const {
    for (const Node& node : graph_.nodes)
      if (node.type == "mean_squared_error") return true;
    return false;
  }

  void add(size_t i) {
    const Node& node = graph_.nodes[i];
    const bool absent = !needed_[static_cast<size_t>(graph_.value_of(i))];
    if (absent || passed_over(node)) {
      names_.push_back(absent ? "" : name_of(node.inputs[0]));
      return;
    }
    names_.push_back(free_name(node.name));
    const Json none = Json::object();
    const bool given = i < graph_.spec.layers.size();
    LayerParams params(given ? graph_.spec.layers[i].params : none, graph_.spec.source, "",
                       node.name);
    std::vector<std::string> inputs;
    for (int input : node.inputs) inputs.push_back(name_of(input));
    add_layer(node, params, inputs, names_.back());
  }

  void add_layer(const Node& node, LayerParams& params, std::vector<std::string> inputs,
                 const std::string& output) {
    static const std::map<std::string, std::string> kPlain = {
        {"relu", "Relu"}, {"tanh", "Tanh"}, {"dropout", "Dropout"}};
    const std::string& type = node.type;
    if (type == "convolution") return add_convolution(node, params, inputs, output);
    if (type == "fully_connected") return add_fully_connected(node, params, inputs, output);
    if (type == "batch_normalization") return add_batch_normalization(node, params, inputs, output);
    if (type == "max_pooling" || type == "average_pooling")
      return add_pooling(node, params, inputs, output);
    if (type == "local_response_normalization") return add_lrn(node, params, inputs, output);
    if (type == "sigmoid") return add_sigmoid(node, params, inputs, output);
    if (type == "dropout")
      inputs.push_back(scalar(node, "ratio", params.number("ratio", 0.5, 0, 1)));
    if (auto plain = kPlain.find(type); plain != kPlain.end())
      return finish(NodeWriter(plain->second, node.name, inputs, output));
    if (type == "leaky_relu")
      return finish(NodeWriter("LeakyRelu", node.name, inputs, output)
                        .number("alpha", params.number("slope", 0.01, 0, 1)));
    if (type == "global_pooling") {
      const bool maximum = params.choice("kind", "average", {"average", "max"}) == "max";
      const char* name = maximum ? "GlobalMaxPool" : "GlobalAveragePool";
      return finish(NodeWriter(name, node.name, inputs, output));
    }
    if (type == "concatenation")
      return finish(NodeWriter("Concat", node.name, inputs, output)
                        .integer("axis", params.integer("axis", 0, 0) + 1));
    if (type == "add")
      return finish(NodeWriter(inputs.size() == 2 ? "Add" : "Sum", node.name, inputs, output));
    if (type == "flatten" || type == "softmax")
      return finish(NodeWriter(type == "flatten" ? "Flatten" : "Softmax", node.name, inputs, output)
                        .integer("axis", 1));
    refuse(node, "a layer for which ONNX has an operator");
  }

  void finish(NodeWriter& node) { nodes_.push_back(node.take()); }
  void finish(NodeWriter&& node) { nodes_.push_back(node.take()); }

  std::string initializer(const Node& node, const std::string& parameter) {
    const std::string name = node.name + "." + parameter;
    const Tensor& value = tensors_.at(name);
    return initializer(name, value.shape(), bytes_of(value));
  }
  std::string initializer(const std::string& wish, const Shape& shape, ByteView values) {
    const std::string name = free_name(wish);
    initializers_.push_back(tensor_message(name, shape, values));
    return name;
  }
  std::string scalar(const Node& node, const std::string& what, double value) {
    const Tensor& kept =
        scalars_.emplace_back(Tensor::from({static_cast<float>(value)}, {}, Device::cpu()));
    return initializer(node.name + "." + what, {}, bytes_of(kept));
  }

  void add_convolution(const Node& node, LayerParams& params, std::vector<std::string> inputs,
                       const std::string& output) {
    const auto kernel = params.pair("kernel_size", std::nullopt, 1);
    const auto stride = params.pair("stride", {{1, 1}}, 1);
    const auto padding = params.pair("padding", {{0, 0}}, 0);
    const auto dilation = params.pair("dilation", {{1, 1}}, 1);
    const std::string bias = params.switch_or("bias", {"channel", "position"});
    const bool positions = bias == "position";
    inputs.push_back(initializer(node, "weight"));
    if (bias == "channel") inputs.push_back(initializer(node, "bias"));
    const std::string sum = positions ? free_name(node.name + ".products") : output;
    finish(NodeWriter("Conv", node.name, inputs, sum)
               .integers("dilations", {dilation[0], dilation[1]})
               .integer("group", params.integer("groups", 1))
               .integers("kernel_shape", {kernel[0], kernel[1]})
               .integers("pads", {padding[0], padding[1], padding[0], padding[1]})
               .integers("strides", {stride[0], stride[1]}));
    if (positions)
      finish(NodeWriter("Add", node.name + ".bias", {sum, initializer(node, "bias")}, output));
  }

  void add_fully_connected(const Node& node, LayerParams& params, std::vector<std::string> inputs,
                           const std::string& output) {
    if (graph_.shape_of(node.inputs[0]).rank() != 1) {
      const std::string flat = free_name(node.name + ".flatten");
      finish(NodeWriter("Flatten", flat, inputs, flat).integer("axis", 1));
      inputs = {flat};
    }
    inputs.push_back(initializer(node, "weight"));
    if (params.boolean("bias", true)) inputs.push_back(initializer(node, "bias"));
    finish(NodeWriter("Gemm", node.name, inputs, output).integer("transB", 1));
  }

  void add_batch_normalization(const Node& node, LayerParams& params,
                               std::vector<std::string> inputs, const std::string& output) {
    for (const char* name : {"weight", "bias", "running_mean", "running_var"})
      inputs.push_back(initializer(node, name));
    finish(NodeWriter("BatchNormalization", node.name, inputs, output)
               .number("epsilon", params.number("eps", 1e-5, 1e-12, 1))
               .number("momentum", 1 - params.number("momentum", 0.1, 0, 1)));
  }

  /// Rounding up is written as padding at the end wherever ONNX's formula gives another size.
  void add_pooling(const Node& node, LayerParams& params, const std::vector<std::string>& inputs,
                   const std::string& output) {
    const bool maximum = node.type == "max_pooling";
    const Pool2d pool = read_pool(params);
    const bool counts = !maximum && params.boolean("count_padding", false);
    const Shape& x = graph_.shape_of(node.inputs[0]);
    std::array<int64_t, 2> end = pool.padding;
    bool up = true, down = true;  // whether rounding up, or down, gives the size
    for (int i = 0; i < 2; ++i) {
      const int64_t free = x[i + 1] + 2 * pool.padding[i] - pool.window[i], step = pool.stride[i];
      const int64_t last = (node.shape.output[i + 1] - 1) * step;
      if (counts && last > free) refuse(node, "windows within the padding where it is counted");
      up = up && (free + step - 1) / step * step == last;
      down = down && free / step * step == last;
    }
    const bool ceil_mode = pool.ceil_mode && up;
    for (int i = 0; i < 2 && !ceil_mode && !down; ++i)
      end[i] = std::max<int64_t>(0, (node.shape.output[i + 1] - 1) * pool.stride[i] +
                                        pool.window[i] - x[i + 1] - pool.padding[i]);
    NodeWriter writer(maximum ? "MaxPool" : "AveragePool", node.name, inputs, output);
    if (ceil_mode) writer.integer("ceil_mode", 1);
    if (counts) writer.integer("count_include_pad", 1);
    finish(writer.integers("kernel_shape", {pool.window[0], pool.window[1]})
               .integers("pads", {pool.padding[0], pool.padding[1], end[0], end[1]})
               .integers("strides", {pool.stride[0], pool.stride[1]}));
  }

  void add_lrn(const Node& node, LayerParams& params, const std::vector<std::string>& inputs,
               const std::string& output) {
    const int64_t size = params.integer("size", 5);
    if (size % 2 == 0) refuse(node, "windows of an odd number of channels");
    finish(NodeWriter("LRN", node.name, inputs, output)
               .number("alpha", params.number("alpha", 1e-4, 0, 1e6))
               .number("beta", params.number("beta", 0.75, 0, 100))
               .number("bias", params.number("k", 1, 1e-6, 1e6))
               .integer("size", size));
  }

  void add_sigmoid(const Node& node, LayerParams& params, std::vector<std::string> inputs,
                   const std::string& output) {
    if (const double gain = params.number("gain", 1, 1e-3, 1e3); gain != 1) {
      const std::string scaled = free_name(node.name + ".scaled");
      inputs.push_back(scalar(node, "gain", gain));
      finish(NodeWriter("Mul", scaled, inputs, scaled));
      inputs = {scaled};
    }
    finish(NodeWriter("Sigmoid", node.name, inputs, output));
  }

  Graph graph_;
  std::map<std::string, Tensor> tensors_;
  std::vector<Tensor> scalars_;
  std::vector<bool> needed_;        // by value
  std::vector<std::string> names_;  // by value
  std::set<std::string> taken_;
  std::vector<ProtoWriter> nodes_, initializers_;
};

}  // namespace

ByteVector encode_onnx(Network& network, const Metadata& metadata) {
  Exporter exporter(network);
  return exporter.write(metadata).encode();
}

void expect_onnx(Network& network) { Exporter(network).write({}); }

void write_onnx(const std::filesystem::path& file, Network& network, const Metadata& metadata) {
  Exporter exporter(network);
  const ProtoWriter model = exporter.write(metadata);
  write_file_atomic(file, model.parts());
}

}  // namespace kaiseki::nn
