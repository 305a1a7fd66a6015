// SPDX-License-Identifier: MIT
#include "nn/registry.h"

#include <map>
#include <mutex>

#include "base/error.h"
#include "nn/settings_reader.h"

// Every layer of the library, by name. nn/layers/NAME.cc has its function make_NAME().
// clang-format off
#define KAISEKI_LAYERS(X) \
  X(add) \
  X(average_pooling) \
  X(batch_normalization) \
  X(concatenation) \
  X(convolution) \
  X(dropout) \
  X(flatten) \
  X(fully_connected) \
  X(global_pooling) \
  X(leaky_relu) \
  X(local_response_normalization) \
  X(max_pooling) \
  X(mean_squared_error) \
  X(relu) \
  X(sigmoid) \
  X(softmax) \
  X(softmax_cross_entropy) \
  X(tanh)
// clang-format on

namespace kaiseki::nn {

#define KAISEKI_DECLARATION(type) std::unique_ptr<Layer> make_##type();
KAISEKI_LAYERS(KAISEKI_DECLARATION)
#undef KAISEKI_DECLARATION

namespace {

struct LayerRegistry {
  std::mutex mutex;
#define KAISEKI_ENTRY(type) {#type, make_##type},
  std::map<std::string, LayerFactory, std::less<>> factories = {KAISEKI_LAYERS(KAISEKI_ENTRY)};
#undef KAISEKI_ENTRY
};

bool in_library(std::string_view type) {
#define KAISEKI_COMPARISON(name) || type == #name
  return false KAISEKI_LAYERS(KAISEKI_COMPARISON);
#undef KAISEKI_COMPARISON
}

LayerRegistry& registry() {
  static LayerRegistry instance;
  return instance;
}

}  // namespace

void register_layer(const std::string& type, LayerFactory factory) {
  LayerRegistry& all = registry();
  std::lock_guard lock(all.mutex);
  if (!all.factories.emplace(type, std::move(factory)).second)
    throw Error(message(
        "register_layer", "expected a new type of layer, got ", type,
        in_library(type) ? ", which the library has" : ", which an earlier call registered"));
}

std::vector<std::string> layer_types() {
  LayerRegistry& all = registry();
  std::lock_guard lock(all.mutex);
  std::vector<std::string> names;
  for (const auto& [name, factory] : all.factories) names.push_back(name);
  return names;
}

std::unique_ptr<Layer> make_layer(std::string_view type) {
  LayerRegistry& all = registry();
  std::lock_guard lock(all.mutex);
  const auto at = all.factories.find(type);
  return at == all.factories.end() ? nullptr : at->second();
}

std::unique_ptr<Layer> make_layer(std::string_view type, LayerParams& params) {
  std::unique_ptr<Layer> layer = make_layer(type);
  if (!layer)
    params.fail("type", "a type of layer",
                "\"" + std::string(type.substr(0, 64)) + "\"" + suggestion(type, layer_types()));
  SettingsReader reader(params);
  layer->settings(reader);
  return layer;
}

}  // namespace kaiseki::nn
