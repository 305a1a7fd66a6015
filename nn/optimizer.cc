// SPDX-License-Identifier: MIT
#include "nn/optimizer.h"

#include <cmath>

#include "base/error.h"
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

float start_of(const OptimizerRule::Slot& slot, const OptimizerOptions& options) {
  return slot.name == "square_sum" ? static_cast<float>(options.initial_square_sum) : 0;
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
  check_positive("initial square sum", options.initial_square_sum);
  std::string gradient = options.clip_norm > 0 ? "clip*g" : "g";
  bool l2 = weight_decay_ > 0 && !rule_->decoupled_decay;
  statements_[0] = with_gradient(rule_->statements, "(" + gradient + ")");
  statements_[1] =
      l2 ? with_gradient(rule_->statements, "(" + gradient + " + decay*w)") : statements_[0];
}

std::vector<Tensor>& Optimizer::slots_of(const Parameter& parameter) {
  std::vector<Tensor>& slots = slots_[parameter.name];
  const Tensor& value = parameter.value;
  while (slots.size() < rule_->slots.size())
    slots.push_back(Tensor::full(value.shape(), start_of(rule_->slots[slots.size()], options_),
                                 value.device()));
  return slots;
}

/// Makes slots that do not exist. Adds all tensors of a step, in the order of their use.
void Optimizer::add_all(IdleTensors& idle, std::span<const Parameter> parameters,
                        std::span<const Tensor> gradients) {
  for (size_t p = 0; p < parameters.size(); ++p) {
    idle.add(parameters[p].value);
    if (!gradients.empty()) idle.add(gradients[p]);
    for (const Tensor& slot : slots_of(parameters[p])) idle.add(slot);
  }
}

void Optimizer::add_slots(IdleTensors& idle, const Gradients& gradients) const {
  if (gradients.momentum != 0) return;  // the slots are the gradients
  for (const auto& [name, slots] : slots_)
    for (const Tensor& slot : slots) idle.add(slot);
}

Tensor squared_norm(const Gradients& gradients) {
  require(!gradients.values.empty(), "optimizer", "expected gradients, got none");
  Tensor squares({}, DType::f32, gradients.values[0].device());
  float beta = 0;
  for (const Tensor& gradient : gradients.values) {
    reduce_into(squares, Reduction::sum_of_squares, gradient, {}, beta);
    beta = 1;
  }
  return squares;
}

Tensor Optimizer::clip_factor(const Gradients& gradients) const {
  return elementwise(
      "min(1, n/(sqrt(s) + 0.000001))",
      {{"n", static_cast<float>(options_.clip_norm)}, {"s", squared_norm(gradients)}});
}

void Optimizer::step(std::span<Parameter> parameters, const Gradients& gradients,
                     double learning_rate) {
  require(gradients.values.size() == parameters.size(), "optimizer", "expected ", parameters.size(),
          " gradients, got ", gradients.values.size());
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

  IdleTensors idle(parameters[0].value.device());
  add_all(idle, parameters, gradients.values);
  Tensor clip;
  if (options_.clip_norm > 0) clip = clip_factor(gradients);
  for (size_t p = 0; p < parameters.size(); ++p) {
    Parameter& parameter = parameters[p];
    idle.begin(parameter.value);
    const Tensor& gradient = gradients.values[p];
    const bool decay = decays && parameter.decay;
    const std::vector<Tensor>& slots = slots_of(parameter);
    if (gradients.momentum != 0) {
      step_from_velocity(parameter, gradient, decay, lr);
      continue;
    }
    std::vector<Binding> bindings = {{"w", parameter.value}, {"g", gradient}};
    for (size_t i = 0; i < slots.size(); ++i)
      bindings.emplace_back(rule_->slots[i].symbol, slots[i]);
    for (std::string_view name : rule_->scalars)
      bindings.emplace_back(name, static_cast<float>(scalar(name, decay)));
    if (clip.defined()) bindings.emplace_back("clip", clip);
    if (decay && !rule_->decoupled_decay)
      bindings.emplace_back("decay", static_cast<float>(weight_decay_));
    update(statements_[decay], bindings);
  }
}

bool Optimizer::use_velocity_as_gradients(std::span<const Parameter> parameters,
                                          Gradients& gradients) {
  const auto momentum = static_cast<float>(options_.momentum);
  if (rule_->accumulated.empty() || options_.clip_norm > 0 || momentum == 0) return false;
  gradients.values.resize(parameters.size());
  if (parameters.empty()) return true;
  IdleTensors idle(parameters[0].value.device());
  for (size_t i = 0; i < parameters.size(); ++i) {
    idle.add(parameters[i].value);
    idle.add(gradients.values[i]);
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    Tensor& gradient = gradients.values[i];
    std::vector<Tensor>& slots = slots_[parameters[i].name];
    if (slots.empty() && gradient.defined() && gradients.momentum == 0) {
      fill(gradient, 0);
      slots.push_back(gradient);
    }
    gradient = slots_of(parameters[i])[0];
    idle.add(gradient);
  }
  gradients.momentum = momentum;
  return true;
}

void Optimizer::step_from_velocity(Parameter& parameter, const Tensor& gradient, bool decay,
                                   double learning_rate) {
  const Tensor& velocity = slots_of(parameter)[0];
  require(gradient.shares_storage_with(velocity), "optimizer", "the gradient of ", parameter.name,
          " belongs to another optimizer; call zero_grad() of this one before the pass");
  std::vector<Binding> bindings = {
      {"w", parameter.value}, {"v", velocity}, {"lr", static_cast<float>(learning_rate)}};
  if (decay) bindings.emplace_back("decay", static_cast<float>(weight_decay_));
  update((decay ? "v = v + decay*w; " : "") + std::string(rule_->accumulated), bindings);
}

std::vector<State> Optimizer::states(std::span<const Parameter> parameters) {
  std::vector<State> states;
  if (parameters.empty()) return states;
  IdleTensors idle(parameters[0].value.device());
  add_all(idle, parameters, {});
  for (const Parameter& parameter : parameters) {
    const std::vector<Tensor>& slots = slots_of(parameter);
    for (size_t i = 0; i < slots.size(); ++i)
      states.push_back({parameter.name + "." + std::string(rule_->slots[i].name), slots[i]});
  }
  return states;
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const OptimizerRule& rule : optimizer_rules()) names.emplace_back(rule.name);
  return names;
}

double default_learning_rate(std::string_view optimizer) {
  return optimizer_rule(optimizer).learning_rate;
}

}  // namespace kaiseki::nn
