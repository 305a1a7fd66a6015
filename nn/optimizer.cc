// SPDX-License-Identifier: MIT
#include "nn/optimizer.h"

#include <cmath>

#include "matrix/error.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "nn/optimizer_rules.h"

namespace kaiseki::nn {
namespace {

void check_range(std::string_view what, double value, double low, double high) {
  if (!(value >= low && value < high))
    throw Error(message("optimizer", "expected ", what, " from ", low, " to below ", high, ", got ",
                        value));
}

void check_positive(std::string_view what, double value) {
  if (!(value >= 0 && std::isfinite(value)))
    throw Error(message("optimizer", "expected ", what, " of 0 or more, got ", value));
}

std::string with_gradient(std::string_view statements, const std::string& gradient) {
  std::string text;
  for (char c : statements) c == 'G' ? text += gradient : text += c;
  return text;
}

}  // namespace

Optimizer::Optimizer(const OptimizerOptions& options)
    : options_(options),
      rule_(&optimizer_rule(options.name)),
      epsilon_(options.epsilon.value_or(rule_->epsilon)),
      weight_decay_(options.weight_decay.value_or(rule_->weight_decay)) {
  check_range("momentum", options.momentum, 0, 1);
  check_range("alpha", options.alpha, 0, 1);
  check_range("beta1", options.beta1, 0, 1);
  check_range("beta2", options.beta2, 0, 1);
  check_positive("epsilon", epsilon_);
  check_positive("weight decay", weight_decay_);
  check_positive("clip norm", options.clip_norm);
  std::string gradient = options.clip_norm > 0 ? "clip*g" : "g";
  bool l2 = weight_decay_ > 0 && !rule_->decoupled_decay;
  statements_[0] = with_gradient(rule_->statements, "(" + gradient + ")");
  statements_[1] =
      l2 ? with_gradient(rule_->statements, "(" + gradient + " + decay*w)") : statements_[0];
}

std::vector<Tensor>& Optimizer::slots_of(const Parameter& parameter) {
  std::vector<Tensor>& slots = slots_[parameter.name];
  while (slots.size() < rule_->slots.size())
    slots.push_back(Tensor::zeros(parameter.value.shape(), DType::f32, parameter.value.device()));
  return slots;
}

Tensor Optimizer::clip_factor(std::span<const Parameter> parameters) const {
  require(!parameters.empty(), "optimizer", "expected parameters, got none");
  Tensor squares({}, DType::f32, parameters[0].value.device());
  float beta = 0;
  for (const Parameter& parameter : parameters) {
    reduce_into(Reduction::sum_of_squares, parameter.grad, {}, squares, beta);
    beta = 1;
  }
  return elementwise("min(1, n/(sqrt(s) + 0.000001))",
                     {{"n", static_cast<float>(options_.clip_norm)}, {"s", squares}});
}

void Optimizer::step(std::span<Parameter> parameters, double learning_rate) {
  if (parameters.empty()) return;
  ++steps_;
  const double lr = learning_rate, t = static_cast<double>(steps_);
  const double b1 = options_.beta1, b2 = options_.beta2;
  const bool decays = weight_decay_ > 0;
  auto scalar = [&](std::string_view name, bool decay) -> double {
    if (name == "lr") return lr;
    if (name == "m") return options_.momentum;
    if (name == "a") return options_.alpha;
    if (name == "a1") return 1 - options_.alpha;
    if (name == "b1") return b1;
    if (name == "b2") return b2;
    if (name == "c1") return 1 - b1;
    if (name == "c2") return 1 - b2;
    if (name == "h") return lr / (1 - std::pow(b1, t));
    if (name == "k") return 1 / std::sqrt(1 - std::pow(b2, t));
    if (name == "eps") return epsilon_;
    return decay ? 1 - lr * weight_decay_ : 1;  // keep
  };

  Tensor clip;
  if (options_.clip_norm > 0) clip = clip_factor(parameters);
  for (Parameter& parameter : parameters) {
    const bool decay = decays && parameter.decay;
    const std::vector<Tensor>& slots = slots_of(parameter);
    if (parameter.carry != 0) {
      step_accumulated(parameter, decay, lr);
      continue;
    }
    std::vector<Binding> bindings = {{"w", parameter.value}, {"g", parameter.grad}};
    for (size_t i = 0; i < slots.size(); ++i)
      bindings.emplace_back(rule_->slots[i].symbol, slots[i]);
    for (std::string_view name : rule_->scalars)
      bindings.emplace_back(name, static_cast<float>(scalar(name, decay)));
    if (clip.defined()) bindings.emplace_back("clip", clip);
    if (decay && !rule_->decoupled_decay)
      bindings.emplace_back("decay", static_cast<float>(weight_decay_));
    update(statements_[decay], bindings);
  }
  parameters[0].value.device().workspace().end_iteration();
}

bool Optimizer::lend_velocity(std::span<Parameter> parameters) {
  const auto momentum = static_cast<float>(options_.momentum);
  if (rule_->accumulated.empty() || options_.clip_norm > 0 || momentum == 0) return false;
  for (Parameter& parameter : parameters) {
    std::vector<Tensor>& slots = slots_[parameter.name];
    if (slots.empty() && parameter.grad.defined() && parameter.carry == 0) {
      fill(parameter.grad, 0);
      slots.push_back(parameter.grad);
    }
    parameter.grad = slots_of(parameter)[0];
    parameter.carry = momentum;
  }
  return true;
}

void Optimizer::step_accumulated(Parameter& parameter, bool decay, double learning_rate) {
  const Tensor& velocity = slots_of(parameter)[0];
  require(parameter.grad.shares_storage_with(velocity), "optimizer",
          "expected gradients made by a pass after zero_grad() with this optimizer, got those of "
          "another for ",
          parameter.name);
  std::vector<Binding> bindings = {
      {"w", parameter.value}, {"v", velocity}, {"lr", static_cast<float>(learning_rate)}};
  if (decay) bindings.emplace_back("decay", static_cast<float>(weight_decay_));
  update((decay ? "v = v + decay*w; " : "") + std::string(rule_->accumulated), bindings);
}

std::vector<State> Optimizer::states(std::span<const Parameter> parameters) {
  std::vector<State> states;
  for (const Parameter& parameter : parameters) {
    const std::vector<Tensor>& slots = slots_of(parameter);
    for (size_t i = 0; i < slots.size(); ++i)
      states.push_back({parameter.name + "." + std::string(rule_->slots[i].name), slots[i]});
  }
  return states;
}

}  // namespace kaiseki::nn
