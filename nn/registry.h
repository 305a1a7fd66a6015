// SPDX-License-Identifier: MIT
// The types of layers by name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nn/layer.h"
#include "nn/layer_params.h"

namespace kaiseki::nn {

/// Makes a layer with its defaults.
using LayerFactory = std::function<std::unique_ptr<Layer>()>;

/// Adds a type of layer. Networks that are loaded afterwards may use it. Throws Error if the name
/// is taken.
void register_layer(const std::string& type, LayerFactory factory);
/// Returns a layer of this type with its defaults, or null if the type is unknown.
std::unique_ptr<Layer> make_layer(std::string_view type);
/// Returns a layer with the settings in `params`. Throws ParseError for an unknown type or a wrong
/// setting.
std::unique_ptr<Layer> make_layer(std::string_view type, LayerParams& params);
/// All names, sorted.
std::vector<std::string> layer_types();

}  // namespace kaiseki::nn
