// SPDX-License-Identifier: MIT
// Networks, optimizers, weights and the built-in digits.
#include "nn/network.h"

#include <cmath>
#include <string>

#include "matrix/ops/reduce.h"
#include "nn/data/picture.h"
#include "nn/data/source.h"
#include "nn/optimizer.h"
#include "nn/weights.h"
#include "wasm/bindings/call.h"

namespace kaiseki::wasm {
namespace {

using namespace nn;

/// Bytes of the last call that gives some; JavaScript copies them at once.
ByteVector result;

const std::byte* give(ByteView bytes) {
  result.assign(bytes.begin(), bytes.end());
  result.push_back(std::byte{0});
  return result.data();
}

/// Loss, and how many labels the output names.
void judge(const Network::Loss& run, const Tensor& labels, double* out) {
  out[0] = run.loss.item();
  out[1] = 0;
  if (run.output.rank() != 2 || labels.dtype() != DType::i32) return;
  const std::vector<int32_t> found = argmax(run.output, 1).to_vector<int32_t>();
  const std::vector<int32_t> wanted = labels.to_vector<int32_t>();
  for (size_t i = 0; i < found.size(); ++i) out[1] += found[i] == wanted[i];
}

Parameter& parameter(Network& network, int index) {
  return network.parameters()[static_cast<size_t>(index)];
}

}  // namespace

/// How many bytes the last call gave, the 0 after them left out.
KAISEKI_EXPORT double kaiseki_result_size() { return static_cast<double>(result.size()) - 1; }

KAISEKI_EXPORT Network* kaiseki_network(const char* file, size_t size) {
  return guarded([&] { return handle(Network::parse({file, size}, "network", Device::cpu())); });
}
KAISEKI_EXPORT void kaiseki_network_delete(Network* network) { release(network); }

KAISEKI_EXPORT int kaiseki_network_initialize(Network* network, double seed) {
  return guarded([&] { return network->initialize(static_cast<uint64_t>(seed)), 1; });
}

KAISEKI_EXPORT const std::byte* kaiseki_network_json(Network* network) {
  return guarded([&] { return give(as_bytes(network->json())); });
}

KAISEKI_EXPORT Tensor* kaiseki_network_forward(Network* network, const Tensor* x, bool train) {
  return guarded([&] { return handle(network->forward(*x, train ? Phase::train : Phase::test)); });
}

/// One step: `out` gets the mean loss, and how many samples were right before it.
KAISEKI_EXPORT int kaiseki_train_step(Network* network, Optimizer* optimizer, const Tensor* x,
                                      const Tensor* targets, double learning_rate, double* out) {
  return guarded([&] {
    network->zero_grad();
    const Network::Loss run = network->forward_loss(*x, *targets, Phase::train);
    network->backward();
    optimizer->step(network->parameters(), learning_rate);
    return judge(run, *targets, out), 1;
  });
}

/// The same without training.
KAISEKI_EXPORT int kaiseki_evaluate(Network* network, const Tensor* x, const Tensor* targets,
                                    double* out) {
  return guarded(
      [&] { return judge(network->forward_loss(*x, *targets, Phase::test), *targets, out), 1; });
}

KAISEKI_EXPORT int kaiseki_parameter_count(Network* network) {
  return guarded([&] { return static_cast<int>(network->parameters().size()); });
}
KAISEKI_EXPORT const std::byte* kaiseki_parameter_name(Network* network, int index) {
  return guarded([&] { return give(as_bytes(parameter(*network, index).name)); });
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
    return give(as_bytes(report.str()));
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

/// Images f32 [count, 1, 28, 28] and labels i32 [count] of the built-in digits.
KAISEKI_EXPORT int kaiseki_digits(int count, double seed, bool train, Tensor** out) {
  return guarded([&] {
    if (count < 1) throw Error(message("data", "expected one digit or more, got ", count));
    const auto source =
        make_digits(train ? count : (count + 4) / 5, static_cast<uint64_t>(seed), train);
    Picture picture;
    source->read(0, {}, picture);
    const Preprocessing how{picture.channels, picture.height, picture.width};
    const Shape sample{how.channels, how.height, how.width};
    Tensor images({source->size(), sample[0], sample[1], sample[2]}, DType::f32, Device::cpu());
    Tensor labels({source->size()}, DType::i32, Device::cpu());
    float* values = images.overwrite<float>();
    int32_t* classes = labels.overwrite<int32_t>();
    for (int64_t i = 0; i < source->size(); ++i, values += sample.elements()) {
      source->read(i, how, picture);
      prepare_sample(picture, how, nullptr, values);
      classes[i] = source->label(i);
    }
    out[0] = handle(std::move(images));
    out[1] = handle(std::move(labels));
    return 1;
  });
}

}  // namespace kaiseki::wasm
