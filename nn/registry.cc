// SPDX-License-Identifier: MIT
// The types of layers: an explicit list, and what programs add while they run.
#include <map>
#include <mutex>

#include "nn/layers/layers.h"

namespace kaiseki::nn {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, LayerFactory, std::less<>> factories = {
      {"add", make_add},
      {"average_pooling", make_average_pooling},
      {"batch_normalization", make_batch_normalization},
      {"concatenation", make_concatenation},
      {"convolution", make_convolution},
      {"dropout", make_dropout},
      {"flatten", make_flatten},
      {"fully_connected", make_fully_connected},
      {"global_pooling", make_global_pooling},
      {"leaky_relu", make_leaky_relu},
      {"local_response_normalization", make_local_response_normalization},
      {"max_pooling", make_max_pooling},
      {"mean_squared_error", make_mean_squared_error},
      {"relu", make_relu},
      {"sigmoid", make_sigmoid},
      {"softmax", make_softmax},
      {"softmax_cross_entropy", make_softmax_cross_entropy},
      {"tanh", make_tanh},
  };
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

void register_layer(const std::string& type, LayerFactory factory) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  if (!all.factories.emplace(type, std::move(factory)).second)
    throw Error(message("register_layer", "expected a new type of layer, got ", type));
}

std::vector<std::string> layer_types() {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  std::vector<std::string> names;
  for (const auto& [name, factory] : all.factories) names.push_back(name);
  return names;
}

std::unique_ptr<Layer> make_layer(std::string_view type, LayerParams& params) {
  LayerFactory factory;
  {
    Registry& all = registry();
    std::lock_guard lock(all.mutex);
    if (auto at = all.factories.find(type); at != all.factories.end()) factory = at->second;
  }
  if (!factory)
    params.fail("type", "a type of layer",
                "\"" + std::string(type.substr(0, 64)) + "\"" + suggestion(type, layer_types()));
  return factory(params);
}

}  // namespace kaiseki::nn
