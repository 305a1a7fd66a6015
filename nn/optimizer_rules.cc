// SPDX-License-Identifier: MIT
#include "nn/optimizer_rules.h"

#include <string>

#include "base/error.h"

namespace kaiseki::nn {

std::span<const OptimizerRule> optimizer_rules() {
  static const std::vector<OptimizerRule> rules = {
      {"sgd", {}, "w = w - lr*G", {"lr"}, {}, 0.01, 0, 0, false},
      {"momentum",
       {{"v", "momentum"}},
       "v = m*v + G; w = w - lr*v",
       {"lr", "m"},
       "w = w - lr*v",
       0.01,
       0,
       0,
       false},
      {"nesterov",
       {{"v", "momentum"}},
       "v = m*v + G; w = w - lr*(G + m*v)",
       {"lr", "m"},
       {},
       0.01,
       0,
       0,
       false},
      {"adagrad",
       {{"s", "square_sum"}},
       "s = s + G*G; w = w - lr*G/(sqrt(s) + eps)",
       {"lr", "eps"},
       {},
       0.01,
       1e-10,
       0,
       false},
      {"rmsprop",
       {{"s", "square_average"}},
       "s = a*s + a1*G*G; w = w - lr*G/(sqrt(s) + eps)",
       {"lr", "a", "a1", "eps"},
       {},
       0.01,
       1e-8,
       0,
       false},
      {"adam",
       {{"u", "average"}, {"s", "square_average"}},
       "u = b1*u + c1*G; s = b2*s + c2*G*G; w = w - h*u/(k*sqrt(s) + eps)",
       {"h", "k", "b1", "b2", "c1", "c2", "eps"},
       {},
       0.001,
       1e-8,
       0,
       false},
      {"adamw",
       {{"u", "average"}, {"s", "square_average"}},
       "u = b1*u + c1*G; s = b2*s + c2*G*G; w = keep*w - h*u/(k*sqrt(s) + eps)",
       {"h", "k", "b1", "b2", "c1", "c2", "eps", "keep"},
       {},
       0.001,
       1e-8,
       0.01,
       true},
  };
  return rules;
}

const OptimizerRule& optimizer_rule(std::string_view name) {
  std::string known;
  for (const OptimizerRule& rule : optimizer_rules()) {
    if (rule.name == name) return rule;
    known += (known.empty() ? "" : ", ") + std::string(rule.name);
  }
  throw Error(message("optimizer", "expected one of ", known, ", got '", name, "'"));
}

}  // namespace kaiseki::nn
