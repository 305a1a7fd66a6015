// SPDX-License-Identifier: MIT
// All kinds of models by their names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "ml/model/model.h"

namespace kaiseki::ml {

/// One kind of model, for lists and help.
struct ModelKind {
  std::string_view name;   // the class, such as "Ridge"
  std::string_view about;  // one sentence
  LearningTask task;
  std::unique_ptr<Model> (*make)(std::string_view name, const Json& settings,
                                 const std::string& place);
};
/// All kinds, by task, then by name.
const std::vector<ModelKind>& model_kinds();

/// A model that is not fitted. `settings` is an object; its missing members have their defaults.
/// `place` names the settings in errors. Throws ParseError for unknown names and wrong types, and
/// Error for values that the estimator refuses.
std::unique_ptr<Model> make_model(std::string_view name, const Json& settings = Json::object(),
                                  const std::string& place = "settings");

}  // namespace kaiseki::ml
