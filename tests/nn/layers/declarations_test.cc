// SPDX-License-Identifier: MIT
// Compares the answers of every layer about itself with its behavior. The network trusts them.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "nn/graph.h"
#include "nn/layers/layers.h"
#include "nn/parse_network.h"
#include "nn/registry.h"
#include "tests/support/reference.h"

namespace kaiseki::nn {
namespace {

constexpr int64_t kSamples = 3;
constexpr Phase kPhases[] = {Phase::train, Phase::test};

/// Every layer but the losses. Layers whose answers depend on their settings have several forms.
const std::vector<std::string> kForms = {
    R"("add", "inputs": ["x", "z"])",
    R"("add", "inputs": ["x", "z", "x"])",
    R"("average_pooling", "kernel_size": 2)",
    R"("batch_normalization")",
    R"("batch_normalization", "axis": 2)",
    R"("concatenation", "inputs": ["x", "z"])",
    R"("convolution", "output_channels": 4, "kernel_size": 3, "padding": 1)",
    R"("convolution", "output_channels": 4, "kernel_size": 3, "bias": "position")",
    R"("dropout", "ratio": 0.5)",
    R"("flatten")",
    R"("fully_connected", "output_size": 90)",
    R"("global_pooling", "kind": "average")",
    R"("global_pooling", "kind": "max")",
    R"("leaky_relu", "slope": 0.1)",
    R"("local_response_normalization", "alpha": 0.5)",
    R"("max_pooling", "kernel_size": 2)",
    R"("relu")",
    R"("sigmoid")",
    R"("softmax")",
    R"("tanh")"};

std::string json_of(const std::string& form) {
  const std::string shape = R"({"shape": [4, 6, 5]})";
  return R"({"inputs": {"x": )" + shape + R"(, "z": )" + shape +
         R"(}, "layers": [{"name": "q", "type": )" + form + "}]}";
}

/// A layer with random inputs, parameters and states, which are the same for each object.
struct LayerTrial {
  explicit LayerTrial(const std::string& form)
      : graph(build_graph(parse_network(json_of(form), "test"))),
        node(graph.nodes[0]),
        layer(*node.layer) {
    uint64_t seed = 0;
    for (const auto& of : node.shape.parameters)
      parameters.push_back({of.name, test::random_tensor(of.shape, ++seed)});
    for (const auto& of : node.shape.states)
      states.push_back({of.name, test::random_tensor(of.shape, ++seed, Device::cpu(), 0.5, 2)});
    for (const int value : node.inputs) {
      shapes.push_back({kSamples});
      for (const int64_t dim : graph.shape_of(value)) shapes.back().push_back(dim);
      inputs.push_back(test::random_tensor(shapes.back(), ++seed));
    }
  }

  Tensor forward(Phase phase, bool save = true, FusedActivation activation = {}) {
    saved.clear();
    ForwardPass pass{.phase = phase,
                     .inputs = inputs,
                     .parameters = parameters,
                     .states = states,
                     .targets = {},
                     .random = Random(7, 0),
                     .activation = activation,
                     .pooling = {},
                     .save_for_backward = save,
                     .saved = saved};
    Tensor output = layer.forward(pass);
    if (!layer.fuses_activation()) apply_activation(activation, output);
    return output;
  }

  /// Returns the gradients of the inputs.
  std::vector<Tensor> backward(Phase phase, const Tensor& output, const Tensor& grad_output) {
    std::vector<Tensor> gradients;
    for (const Parameter& one : parameters)
      gradients.push_back(Tensor::zeros(one.value.shape(), DType::f32, Device::cpu()));
    const std::vector<float> beta(parameters.size(), 1);
    const BackwardReads reads = layer.backward_reads();
    const std::vector<Tensor> none(inputs.size());
    BackwardPass pass{.phase = phase,
                      .pooling = {},
                      .inputs = reads.input ? inputs : none,
                      .shapes = shapes,
                      .output = reads.output ? output : Tensor(),
                      .grad_output = grad_output,
                      .parameters = parameters,
                      .gradients = gradients,
                      .beta = beta,
                      .states = states,
                      .saved = saved,
                      .needs_gradient = std::vector<bool>(inputs.size(), true),
                      .grad_inputs = std::vector<Tensor>(inputs.size())};
    layer.backward(pass);
    return pass.grad_inputs;
  }

  Tensor recompute(Phase phase, FusedActivation activation) {
    return layer.recompute({.phase = phase,
                            .input = inputs[0],
                            .parameters = parameters,
                            .states = states,
                            .activation = activation,
                            .saved = saved});
  }

  Graph graph;
  GraphNode& node;
  const Layer& layer;
  std::vector<Parameter> parameters;
  std::vector<State> states;
  std::vector<Shape> shapes;  // of the inputs, with the batch
  std::vector<Tensor> inputs, saved;
};

std::vector<float> first_sample(const Tensor& tensor) {
  return tensor.slice(0, 0, 1).contiguous().to_vector();
}

/// Changes all samples but the first.
Tensor with_other_samples(const Tensor& tensor) {
  std::vector<float> values = tensor.to_vector();
  for (size_t i = values.size() / kSamples; i < values.size(); ++i) values[i] = 0.7f - values[i];
  return Tensor::from(std::span<const float>(values), tensor.shape(), Device::cpu());
}

}  // namespace

TEST_CASE("layer declarations: every layer but the losses is tried here") {
  for (const std::string& type : layer_types()) {
    CAPTURE(type);
    const bool tried = std::ranges::any_of(
        kForms, [&](const std::string& form) { return form.starts_with('"' + type + '"'); });
    CHECK(tried == !make_layer(type)->is_loss());
  }
}

TEST_CASE("layer declarations: whether a sample's output depends on other samples") {
  for (const std::string& form : kForms)
    for (const Phase phase : kPhases) {
      CAPTURE(form);
      CAPTURE(static_cast<int>(phase));
      LayerTrial trial(form), other(form);
      for (Tensor& input : other.inputs) input = with_other_samples(input);
      const bool depends = first_sample(trial.forward(phase)) != first_sample(other.forward(phase));
      CHECK(trial.layer.couples_samples(phase) == depends);
    }
}

TEST_CASE("layer declarations: whether the output is a view of the input") {
  for (const std::string& form : kForms)
    for (const Phase phase : kPhases) {
      CAPTURE(form);
      CAPTURE(static_cast<int>(phase));
      LayerTrial trial(form);
      const Tensor output = trial.forward(phase);
      CHECK(trial.layer.is_view(phase) == output.shares_storage_with(trial.inputs[0]));
    }
}

TEST_CASE("layer declarations: whether forward() saves a tensor as large as the output") {
  for (const std::string& form : kForms) {
    CAPTURE(form);
    LayerTrial trial(form);
    const Tensor output = trial.forward(Phase::train);
    uint64_t bytes = 0;
    for (const Tensor& tensor : trial.saved) bytes += tensor.bytes();
    if (trial.layer.saves_like_output())
      CHECK(bytes == output.bytes());
    else
      CHECK(bytes <= output.bytes() / 10);  // such as means of channels
  }
}

TEST_CASE("layer declarations: whether the gradients of the inputs are that of the output") {
  for (const std::string& form : kForms)
    for (const Phase phase : kPhases) {
      CAPTURE(form);
      CAPTURE(static_cast<int>(phase));
      LayerTrial trial(form);
      const Tensor output = trial.forward(phase);
      const Tensor gradient = test::random_tensor(output.shape(), 99);
      const bool passes = trial.layer.passes_gradient_on() || trial.layer.is_view(phase);
      for (const Tensor& given : trial.backward(phase, output, gradient))
        CHECK(given.shares_storage_with(gradient) == passes);
    }
}

TEST_CASE("layer declarations: how the output is computed again") {
  for (const std::string& form : kForms)
    for (const Phase phase : kPhases)
      for (const Activation kind : kActivations) {
        CAPTURE(form);
        CAPTURE(static_cast<int>(phase));
        CAPTURE(static_cast<int>(kind));
        const FusedActivation activation{kind, 0.1f};
        LayerTrial trial(form);
        if (trial.layer.is_view(phase)) continue;
        const std::vector<float> output = trial.forward(phase, true, activation).to_vector();
        if (trial.layer.recomputes_output()) {
          CHECK(trial.inputs.size() == 1);
          CHECK(trial.layer.backward_reads().input);
          CHECK(trial.recompute(phase, activation).to_vector() == output);
        } else if (trial.states.empty()) {
          CHECK(trial.forward(phase, false, activation).to_vector() == output);
        }
      }
}

}  // namespace kaiseki::nn
