// SPDX-License-Identifier: MIT
// Networks, optimizers and weights.
#include "nn/network.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "matrix/ops/reduce.h"
#include "nn/json.h"
#include "nn/optimizer.h"
#include "nn/weights.h"
#include "wasm/bindings/call.h"

namespace kaiseki::wasm {
namespace {

using namespace nn;

/// Loss, and how many labels the output names: NaN where there are no labels. `taken_for`, which
/// may be null, gets the class that the output names for each sample.
void judge(const Network::Loss& run, const Tensor& labels, double* out,
           int32_t* taken_for = nullptr) {
  out[0] = run.loss.item();
  out[1] = std::nan("");
  if (run.output.rank() != 2 || labels.dtype() != DType::i32) return;
  const std::vector<int32_t> found = argmax(run.output, 1).to_vector<int32_t>();
  const std::vector<int32_t> wanted = labels.to_vector<int32_t>();
  out[1] = 0;
  for (size_t i = 0; i < found.size(); ++i) out[1] += found[i] == wanted[i];
  if (taken_for) std::copy(found.begin(), found.end(), taken_for);
}

Json json_of(const Shape& shape) {
  Json dims = Json::array();
  for (const int64_t dim : shape) dims.items.emplace_back(dim);
  return dims;
}

/// Parameters or states of one network become those of another by their names.
template <class T>
void share(std::span<T> to, std::span<T> from) {
  for (T& one : to) {
    const auto at = std::ranges::find(from, one.name, &T::name);
    if (at == from.end())
      throw Error(message("network", "expected a parameter ", one.name, ", got none"));
    one.value = at->value;
  }
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
  return guarded([&] { return give_text(network->json()); });
}

KAISEKI_EXPORT Tensor* kaiseki_network_forward(Network* network, const Tensor* x, bool train) {
  return guarded([&] { return handle(network->forward(*x, train ? Phase::train : Phase::test)); });
}

/// One step: `out` gets the mean loss, and how many samples were right before it.
KAISEKI_EXPORT int kaiseki_train_step(Network* network, Optimizer* optimizer, const Tensor* x,
                                      const Tensor* targets, double learning_rate, double* out) {
  return guarded([&] {
    network->zero_grad(*optimizer);
    const Network::Loss run = network->forward_loss(*x, *targets, Phase::train);
    network->backward();
    optimizer->step(network->parameters(), learning_rate);
    return judge(run, *targets, out), 1;
  });
}

/// The same without training, and the class that the output names for each sample.
KAISEKI_EXPORT int kaiseki_evaluate(Network* network, const Tensor* x, const Tensor* targets,
                                    double* out, int32_t* taken_for) {
  return guarded([&] {
    judge(network->forward_loss(*x, *targets, Phase::test), *targets, out, taken_for);
    return 1;
  });
}

/// `network` computes with the parameters and states of `from`, which has all of its layers.
KAISEKI_EXPORT int kaiseki_network_share(Network* network, Network* from) {
  return guarded([&] {
    share(network->parameters(), from->parameters());
    share(network->states(), from->states());
    return 1;
  });
}

/// The outputs of these names for a batch of the only input.
KAISEKI_EXPORT int kaiseki_network_outputs(Network* network, const char* input, const Tensor* x,
                                           int count, const char* const* names, Tensor** out) {
  return guarded([&] {
    const auto found = network->forward({{input, *x}}, Phase::test);
    for (int i = 0; i < count; ++i) {
      const auto at = found.find(names[i]);
      if (at == found.end())
        throw Error(message("activations", "expected an output of the layer ", names[i],
                            ", got none: it computes nothing of its own"));
    }
    for (int i = 0; i < count; ++i) out[i] = handle(Tensor(found.at(names[i])));
    return 1;
  });
}

/// What the network takes, gives, and is made of, as JSON.
KAISEKI_EXPORT const std::byte* kaiseki_network_summary(Network* network) {
  return guarded([&] {
    Json layers = Json::array();
    for (const LayerSummary& layer : network->summary())
      layers.items.push_back(Json::object()
                                 .set("name", layer.name)
                                 .set("type", layer.type)
                                 .set("shape", json_of(layer.output))
                                 .set("parameters", layer.parameters)
                                 .set("multiplyAdds", layer.multiply_adds));
    Json summary = Json::object();
    summary.set("inputShape", json_of(network->input_shape()))
        .set("outputShape", json_of(network->output_shape()))
        .set("layers", layers)
        .set("hasWeights", network->has_weights());
    return give_text(format_json(summary));
  });
}

KAISEKI_EXPORT int kaiseki_parameter_count(Network* network) {
  return guarded([&] { return static_cast<int>(network->parameters().size()); });
}
KAISEKI_EXPORT const std::byte* kaiseki_parameter_name(Network* network, int index) {
  return guarded([&] { return give_text(parameter(*network, index).name); });
}
/// Shares the parameter's storage.
KAISEKI_EXPORT Tensor* kaiseki_parameter_value(Network* network, int index) {
  return guarded([&] { return handle(Tensor(parameter(*network, index).value)); });
}

KAISEKI_EXPORT const std::byte* kaiseki_weights_encode(Network* network, const char* format) {
  return guarded([&] { return give(encode_weights(format, *network)); });
}
/// A report for people.
KAISEKI_EXPORT const std::byte* kaiseki_weights_load(Network* network, const std::byte* bytes,
                                                     double size, bool strict) {
  return guarded([&] {
    const LoadReport report = load_weights({bytes, static_cast<size_t>(size)}, *network, strict);
    return give_text(report.str());
  });
}

/// `numbers`: momentum, alpha, beta1, beta2, epsilon, weight decay, norm to clip at; NaN: default.
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
    return handle(Optimizer(options));
  });
}
KAISEKI_EXPORT void kaiseki_optimizer_delete(Optimizer* optimizer) { release(optimizer); }

KAISEKI_EXPORT double kaiseki_default_learning_rate(const char* optimizer) {
  return guarded([&] { return default_learning_rate(optimizer); });
}

}  // namespace kaiseki::wasm
