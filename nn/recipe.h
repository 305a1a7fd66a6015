// SPDX-License-Identifier: MIT
// Recipe: how a network is trained. A network's JSON may have one (docs/network-json.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "nn/optimizer.h"
#include "nn/schedule.h"

namespace kaiseki::nn {

/// A member has no value if the recipe does not name it.
struct Recipe {
  std::optional<int64_t> epochs, batch_size;
  std::optional<std::string> optimizer;  // a name of optimizer_names()
  std::optional<double> learning_rate, momentum, weight_decay, clip_norm;
  std::optional<std::string> schedule;      // constant, step, cosine, linear
  std::optional<double> warmup, step_size;  // in epochs
  std::optional<double> gamma, minimum_rate;
  std::optional<std::string> augment;  // as for set_augmentation()
  std::optional<int64_t> resize;       // resize, mean and std: as in Preprocessing
  std::optional<std::vector<double>> mean, std;
};

/// Throws ParseError, with `source` and a path that begins with "recipe".
Recipe read_recipe(const Json& object, std::string_view source);
/// Writes the members that have values.
Json to_json(const Recipe& recipe);

/// Returns `first`, with the values of `rest` for members without a value. If `first` names another
/// optimizer than `rest`, it does not get the learning rate of `rest`.
Recipe completed(Recipe first, const Recipe& rest);
/// The values that apply if nothing else is given. There is no size and no normalization.
Recipe default_recipe();

/// The next functions take a recipe that completed(..., default_recipe()) returned.
double learning_rate_of(const Recipe& recipe);
OptimizerOptions optimizer_of(const Recipe& recipe);
/// `samples` is the number of samples of an epoch.
Schedule schedule_of(const Recipe& recipe, int64_t samples);

}  // namespace kaiseki::nn
