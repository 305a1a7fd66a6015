// SPDX-License-Identifier: MIT
// Networks, optimizers and weights.
#include "nn/network.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/normalize.h"
#include "matrix/ops/reduce.h"
#include "nn/gradient_tar.h"
#include "nn/io/safetensors.h"
#include "nn/optimizer.h"
#include "nn/train/state_text.h"
#include "nn/weights.h"
#include "wasm/bindings/call.h"

namespace kaiseki::wasm {
namespace {

using namespace nn;

/// Writes the loss and the number of correct predictions to `out`. The number is NaN if there are
/// no labels. `predicted` may be null. It gets the predicted class of each sample.
void write_scores(const Network::Loss& run, const Tensor& labels, double* out,
                  int32_t* predicted = nullptr) {
  out[0] = run.loss.item();
  out[1] = std::nan("");
  if (run.output.rank() != 2 || labels.dtype() != DType::i32) return;
  const std::vector<int32_t> predictions = argmax(run.output, 1).to_vector<int32_t>();
  const std::vector<int32_t> expected = labels.to_vector<int32_t>();
  out[1] = 0;
  for (size_t i = 0; i < predictions.size(); ++i) out[1] += predictions[i] == expected[i];
  if (predicted) std::copy(predictions.begin(), predictions.end(), predicted);
}

/// Bytes become floats in 0..1.
Tensor input_of(const Tensor& x) { return x.dtype() == DType::u8 ? normalize(x, {}, {}) : x; }

Json json_of(const Shape& shape) {
  Json dims = Json::array();
  for (const int64_t dim : shape) dims.items.emplace_back(dim);
  return dims;
}

/// Replaces the values of parameters or states by those of the same name in another network.
template <class T>
void share(std::span<T> to, std::span<T> from) {
  for (T& one : to) {
    const auto at = std::ranges::find(from, one.name, &T::name);
    if (at == from.end())
      throw Error(message("network", "expected a parameter ", one.name, ", got none"));
    one.value = at->value;
  }
}

/// After a step of trainStep(), the gradients may be an optimizer's velocity.
void check_gradients(Network& network, std::string_view name) {
  if (network.gradients().momentum != 0)
    throw Error(message(name, "expected gradients of backward(), got those of trainStep()"));
}

Parameter& parameter(Network& network, int index) {
  return network.parameters()[static_cast<size_t>(index)];
}

}  // namespace

KAISEKI_EXPORT Network* kaiseki_network(const char* file, size_t size) {
  return guarded([&] { return handle(Network::parse({file, size}, "network", Device::cpu())); });
}
KAISEKI_EXPORT void kaiseki_network_delete(Network* network) { release(network); }

KAISEKI_EXPORT int kaiseki_network_initialize(Network* network, double seed) {
  return guarded([&] { return network->initialize(static_cast<uint64_t>(seed)), 1; });
}

KAISEKI_EXPORT const std::byte* kaiseki_network_json(Network* network) {
  return guarded([&] { return return_text(network->json()); });
}

KAISEKI_EXPORT Tensor* kaiseki_network_forward(Network* network, const Tensor* x, bool train) {
  return guarded(
      [&] { return handle(network->forward(input_of(*x), train ? Phase::train : Phase::test)); });
}

/// Runs one training step. Writes the mean loss and the number of correct predictions before the
/// step to `out`.
KAISEKI_EXPORT int kaiseki_train_step(Network* network, Optimizer* optimizer, const Tensor* x,
                                      const Tensor* targets, double learning_rate, double* out) {
  return guarded([&] {
    network->zero_grad(*optimizer);
    const Network::Loss run = network->forward_loss(input_of(*x), *targets, Phase::train);
    network->backward();
    optimizer->step(network->parameters(), network->gradients(), learning_rate);
    return write_scores(run, *targets, out), 1;
  });
}

/// Computes the gradients of a batch. Writes the same figures to `out`.
KAISEKI_EXPORT int kaiseki_backward(Network* network, const Tensor* x, const Tensor* targets,
                                    double* out) {
  return guarded([&] {
    network->zero_grad();
    const Network::Loss run = network->forward_loss(input_of(*x), *targets, Phase::train);
    network->backward();
    return write_scores(run, *targets, out), 1;
  });
}
KAISEKI_EXPORT const std::byte* kaiseki_gradients_gather(Network* network) {
  return guarded([&] {
    check_gradients(*network, "gatherTar");
    return return_bytes(gather_tar(*network));
  });
}
KAISEKI_EXPORT int kaiseki_gradients_add(Network* network, const std::byte* tar, size_t size) {
  return guarded([&] {
    check_gradients(*network, "addTar");
    return add_tar(*network, {tar, size}), 1;
  });
}
KAISEKI_EXPORT int kaiseki_step(Network* network, Optimizer* optimizer, double learning_rate) {
  return guarded([&] {
    check_gradients(*network, "step");
    optimizer->step(network->parameters(), network->gradients(), learning_rate);
    return 1;
  });
}

/// Writes the same figures without training, and the predicted class of each sample.
KAISEKI_EXPORT int kaiseki_evaluate(Network* network, const Tensor* x, const Tensor* targets,
                                    double* out, int32_t* predicted) {
  return guarded([&] {
    write_scores(network->forward_loss(input_of(*x), *targets, Phase::test), *targets, out,
                 predicted);
    return 1;
  });
}

/// Makes `network` share the parameters and states of `from`, which must have all of its layers.
KAISEKI_EXPORT int kaiseki_network_share(Network* network, Network* from) {
  return guarded([&] {
    share(network->parameters(), from->parameters());
    share(network->states(), from->states());
    return 1;
  });
}

/// Writes the named outputs for a batch of the only input.
KAISEKI_EXPORT int kaiseki_network_outputs(Network* network, const char* input, const Tensor* x,
                                           int count, const char* const* names, Tensor** out) {
  return guarded([&] {
    const auto found = network->forward({{input, input_of(*x)}}, Phase::test);
    for (int i = 0; i < count; ++i) {
      const auto at = found.find(names[i]);
      if (at == found.end())
        throw Error(message("activations", "expected an output of the layer ", names[i],
                            ", got none: the layer has no output of its own"));
    }
    for (int i = 0; i < count; ++i) out[i] = handle(Tensor(found.at(names[i])));
    return 1;
  });
}

/// Returns the network's shapes, layers and whether it has weights, as JSON.
KAISEKI_EXPORT const std::byte* kaiseki_network_summary(Network* network) {
  return guarded([&] {
    Json layers = Json::array();
    for (const LayerSummary& layer : network->summary())
      layers.items.push_back(Json::object()
                                 .set("name", layer.name)
                                 .set("type", layer.type)
                                 .set("shape", json_of(layer.output))
                                 .set("parameters", layer.parameters)
                                 .set("multiplyAdds", layer.multiply_adds)
                                 .set("operations", layer.operations));
    Json summary = Json::object();
    summary.set("inputShape", json_of(network->input_shape()))
        .set("outputShape", json_of(network->output_shape()))
        .set("layers", layers)
        .set("hasWeights", network->has_weights());
    return return_text(format_json(summary));
  });
}

KAISEKI_EXPORT int kaiseki_parameter_count(Network* network) {
  return guarded([&] { return static_cast<int>(network->parameters().size()); });
}
KAISEKI_EXPORT const std::byte* kaiseki_parameter_name(Network* network, int index) {
  return guarded([&] { return return_text(parameter(*network, index).name); });
}
/// Returns a tensor that shares the parameter's storage.
KAISEKI_EXPORT Tensor* kaiseki_parameter_value(Network* network, int index) {
  return guarded([&] { return handle(Tensor(parameter(*network, index).value)); });
}

KAISEKI_EXPORT const std::byte* kaiseki_weights_encode(Network* network, const char* format) {
  return guarded([&] { return return_bytes(encode_weights(format, *network)); });
}
/// Returns a readable report.
KAISEKI_EXPORT const std::byte* kaiseki_weights_load(Network* network, const std::byte* bytes,
                                                     double size, bool strict) {
  return guarded([&] {
    const LoadReport report = load_weights({bytes, static_cast<size_t>(size)}, *network, strict);
    return return_text(report.str());
  });
}

/// `numbers`: momentum, alpha, beta1, beta2, epsilon, weight decay, norm to clip at, initial
/// square sum. NaN selects the default.
KAISEKI_EXPORT Optimizer* kaiseki_optimizer(const char* name, const double* numbers) {
  return guarded([&] {
    OptimizerOptions options;
    options.name = name;
    double* plain[] = {&options.momentum, &options.alpha, &options.beta1, &options.beta2};
    for (int i = 0; i < 4; ++i)
      if (!std::isnan(numbers[i])) *plain[i] = numbers[i];
    if (!std::isnan(numbers[4])) options.epsilon = numbers[4];
    if (!std::isnan(numbers[5])) options.weight_decay = numbers[5];
    if (!std::isnan(numbers[6])) options.clip_norm = numbers[6];
    if (!std::isnan(numbers[7])) options.initial_square_sum = numbers[7];
    return handle(Optimizer(options));
  });
}
KAISEKI_EXPORT void kaiseki_optimizer_delete(Optimizer* optimizer) { release(optimizer); }

/// Encodes the optimizer's tensors for this network and its number of steps, as safetensors.
KAISEKI_EXPORT const std::byte* kaiseki_optimizer_encode(Optimizer* optimizer, Network* network) {
  return guarded([&] {
    std::vector<NamedTensor> tensors;
    for (const State& state : optimizer->states(network->parameters()))
      tensors.push_back({state.name, state.value});
    return return_bytes(encode_safetensors(
        tensors,
        {{"optimizer", optimizer->options().name}, {"steps", std::to_string(optimizer->steps())}}));
  });
}

KAISEKI_EXPORT int kaiseki_optimizer_load(Optimizer* optimizer, Network* network,
                                          const std::byte* bytes, size_t size) {
  return guarded([&] {
    Metadata metadata;
    const std::vector<NamedTensor> found = read_safetensors(ByteView{bytes, size}, &metadata);
    expect(metadata, "optimizer", optimizer->options().name);
    const auto steps = get<int64_t>(metadata, "steps");
    std::vector<State> states = optimizer->states(network->parameters());
    std::vector<const Tensor*> values;
    for (const State& state : states) {
      const auto at = std::ranges::find(found, state.name, &NamedTensor::name);
      const bool same = at != found.end() && at->value.shape() == state.value.shape() &&
                        at->value.dtype() == state.value.dtype();
      if (!same || found.size() != states.size())
        throw Error(message("optimizer", "the state is not that of this network: expected ",
                            states.size(), " tensors with ", state.name, " ", state.value.shape()));
      values.push_back(&at->value);
    }
    for (size_t i = 0; i < states.size(); ++i) copy_into(states[i].value, *values[i]);
    optimizer->set_steps(steps);
    return 1;
  });
}

KAISEKI_EXPORT double kaiseki_default_learning_rate(const char* optimizer) {
  return guarded([&] { return default_learning_rate(optimizer); });
}

}  // namespace kaiseki::wasm
