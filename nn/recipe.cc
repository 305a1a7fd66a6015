// SPDX-License-Identifier: MIT
#include "nn/recipe.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "nn/data/augmentation.h"
#include "nn/data/picture.h"
#include "nn/layer_params.h"

namespace kaiseki::nn {
namespace {

constexpr double kLeast = 1e-12, kMost = 1e9;

/// The limits of a number, or the names that a text may have.
struct RecipeRule {
  double low = 0, high = kMost;
  std::vector<std::string> names = {};
};

/// Calls visit(key, pointer to the member, rule) for each member.
template <class Visit>
void for_each_member(Visit visit) {
  const RecipeRule any, above_zero{.low = kLeast};
  visit("epochs", &Recipe::epochs, any);
  visit("batch_size", &Recipe::batch_size, {1, kMaxDimension});
  visit("optimizer", &Recipe::optimizer, {.names = optimizer_names()});
  visit("learning_rate", &Recipe::learning_rate, above_zero);
  visit("momentum", &Recipe::momentum, {0, std::nextafter(1.0, 0.0)});
  visit("weight_decay", &Recipe::weight_decay, any);
  visit("clip_norm", &Recipe::clip_norm, any);
  visit("schedule", &Recipe::schedule, {.names = {"constant", "step", "cosine", "linear"}});
  visit("warmup", &Recipe::warmup, any);
  visit("step_size", &Recipe::step_size, above_zero);
  visit("gamma", &Recipe::gamma, {kLeast, 1});
  visit("minimum_rate", &Recipe::minimum_rate, any);
  visit("augment", &Recipe::augment, any);
  visit("resize", &Recipe::resize, {1, kMaxPictureSide});
  visit("mean", &Recipe::mean, {-kMost, kMost});
  visit("std", &Recipe::std, above_zero);
}

/// Reads one member after the other.
class RecipeReader {
 public:
  RecipeReader(const Json& object, std::string_view source)
      : params_(object, source, "recipe", "") {}

  Recipe read() {
    for_each_member([&](const char* key, auto member, const RecipeRule& rule) {
      if (const Json* value = params_.optional(key)) read(key, *value, recipe_.*member, rule);
    });
    params_.finish();
    if (recipe_.schedule == "step" && !recipe_.step_size)
      params_.fail("step_size", "epochs between two reductions", "nothing");
    if (recipe_.learning_rate && recipe_.minimum_rate > recipe_.learning_rate)
      params_.fail("minimum_rate", "at most the learning rate",
                   Json(*recipe_.minimum_rate).describe());
    return std::move(recipe_);
  }

 private:
  void read(const char* key, const Json&, std::optional<int64_t>& to, const RecipeRule& rule) {
    to = params_.integer(key, 0, static_cast<int64_t>(rule.low), static_cast<int64_t>(rule.high));
  }
  void read(const char* key, const Json&, std::optional<double>& to, const RecipeRule& rule) {
    to = params_.number(key, 0.0, rule.low, rule.high);
  }
  void read(const char* key, const Json& value, std::optional<std::string>& to,
            const RecipeRule& rule) {
    if (!rule.names.empty())
      to = params_.choice(key, "", {rule.names.begin(), rule.names.end()});
    else if (value.is(Json::Kind::string) && is_augmentation(value.string))
      to = value.string;
    else
      params_.fail(key, kAugmentations, value.describe());
  }
  void read(const char* key, const Json& value, std::optional<std::vector<double>>& to,
            const RecipeRule& rule) {
    const std::string expected = text_from("a list of numbers from ", rule.low, " to ", rule.high);
    if (!value.is(Json::Kind::array) || value.items.empty())
      params_.fail(key, expected, value.describe());
    to.emplace();
    for (const Json& item : value.items) {
      if (!item.is(Json::Kind::number) || item.number < rule.low || item.number > rule.high)
        params_.fail(key, expected, item.describe());
      to->push_back(item.number);
    }
  }

  LayerParams params_;
  Recipe recipe_;
};

Json json_of(int64_t value) { return value; }
Json json_of(double value) { return value; }
Json json_of(const std::string& value) { return value; }
Json json_of(const std::vector<double>& values) {
  return Json::array({values.begin(), values.end()});
}

}  // namespace

Recipe read_recipe(const Json& object, std::string_view source) {
  if (!object.is(Json::Kind::object))
    throw ParseError(source, "recipe", "expected an object, got " + object.describe());
  return RecipeReader(object, source).read();
}

Json to_json(const Recipe& recipe) {
  Json object = Json::object();
  for_each_member([&](const char* key, auto member, const RecipeRule&) {
    if (recipe.*member) object.set(key, json_of(*(recipe.*member)));
  });
  return object;
}

Recipe completed(Recipe first, const Recipe& rest) {
  if (first.optimizer && first.optimizer != rest.optimizer && !first.learning_rate)
    first.learning_rate = default_learning_rate(*first.optimizer);
  for_each_member([&](const char*, auto member, const RecipeRule&) {
    if (!(first.*member)) first.*member = rest.*member;
  });
  return first;
}

Recipe default_recipe() {
  Recipe recipe;
  recipe.epochs = 10;
  recipe.batch_size = 64;
  recipe.optimizer = OptimizerOptions().name;
  recipe.momentum = OptimizerOptions().momentum;
  recipe.clip_norm = OptimizerOptions().clip_norm;
  recipe.schedule = Schedule().name;
  recipe.warmup = 0;
  recipe.gamma = Schedule().gamma;
  recipe.minimum_rate = Schedule().minimum;
  recipe.augment = "none";
  return recipe;
}

double learning_rate_of(const Recipe& recipe) {
  return recipe.learning_rate.value_or(default_learning_rate(*recipe.optimizer));
}

OptimizerOptions optimizer_of(const Recipe& recipe) {
  OptimizerOptions options;
  options.name = *recipe.optimizer;
  options.momentum = *recipe.momentum;
  options.weight_decay = recipe.weight_decay;
  options.clip_norm = *recipe.clip_norm;
  return options;
}

Schedule schedule_of(const Recipe& recipe, int64_t samples) {
  const auto samples_of = [&](double epochs) {
    return static_cast<int64_t>(
        std::llround(std::min(1e15, epochs * static_cast<double>(samples))));
  };
  Schedule schedule;
  schedule.name = *recipe.schedule;
  schedule.base = learning_rate_of(recipe);
  schedule.warmup = samples_of(*recipe.warmup);
  schedule.total = std::max<int64_t>(1, samples_of(static_cast<double>(*recipe.epochs)));
  if (recipe.step_size) schedule.period = std::max<int64_t>(1, samples_of(*recipe.step_size));
  schedule.gamma = *recipe.gamma;
  schedule.minimum = *recipe.minimum_rate;
  return schedule;
}

}  // namespace kaiseki::nn
