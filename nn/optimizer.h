// SPDX-License-Identifier: MIT
// Optimizer: computes new parameters from gradients, in one pass over memory for each parameter. It
// never waits for the device. Names, formulas and defaults are PyTorch's (docs/training.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/memory/idle_tensors.h"
#include "nn/parameter.h"

namespace kaiseki::nn {

struct OptimizerRule;

struct OptimizerOptions {
  std::string name = "momentum";      // sgd, momentum, nesterov, adagrad, rmsprop, adam, adamw
  double momentum = 0.9;              // momentum, nesterov
  double alpha = 0.99;                // rmsprop: smoothing of the squares
  double beta1 = 0.9, beta2 = 0.999;  // adam, adamw
  std::optional<double> epsilon{};    // default 1e-10 for adagrad, 1e-8 for the others
  std::optional<double>
      weight_decay{};             // default 0.01 for adamw (decoupled), 0 for the others (L2)
  double clip_norm = 0;           // > 0: all gradients together are scaled down to this norm
  double initial_square_sum = 0;  // adagrad: the start of s. Sukiyaki starts with 0.01
};

class Optimizer {
 public:
  /// Throws Error for an unknown name or a value out of range.
  explicit Optimizer(const OptimizerOptions& options = {});

  const OptimizerOptions& options() const { return options_; }

  /// One step on every parameter. Changes the gradients only if they are this optimizer's velocity.
  void step(std::span<Parameter> parameters, const Gradients& gradients, double learning_rate);
  /// For Network::zero_grad(optimizer). If the rule is plain momentum without clipping, makes the
  /// velocity the memory of the gradients and returns true. Otherwise returns false and changes
  /// nothing.
  bool use_velocity_as_gradients(std::span<const Parameter> parameters, Gradients& gradients);
  /// The factor that clipping would apply, min(1, clip_norm / (norm + 1e-6)), on the device.
  Tensor clip_factor(const Gradients& gradients) const;

  /// The number of steps so far. Adam's bias correction depends on it.
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }
  /// The slots, for checkpoints, with names such as "conv1.weight.momentum". Before the first step,
  /// slots are zeros, or `initial_square_sum` for adagrad.
  std::vector<State> states(std::span<const Parameter> parameters);
  /// Adds the slots that are not the memory of the gradients: nothing uses them between two steps.
  void add_slots(IdleTensors& idle, const Gradients& gradients) const;

 private:
  std::vector<Tensor>& slots_of(const Parameter& parameter);
  void add_all(IdleTensors& idle, std::span<const Parameter> parameters,
               std::span<const Tensor> gradients);
  void step_from_velocity(Parameter& parameter, const Tensor& gradient, bool decay,
                          double learning_rate);

  OptimizerOptions options_;
  const OptimizerRule* rule_;
  double epsilon_, weight_decay_;
  std::string statements_[2];  // [1]: with L2 weight decay
  int64_t steps_ = 0;
  std::map<std::string, std::vector<Tensor>> slots_;  // by the parameter's name
};

/// The sum of the squares of all gradients, on the device.
Tensor squared_norm(const Gradients& gradients);

/// All names, in the order of the documentation.
std::vector<std::string> optimizer_names();
/// The default learning rate. Throws Error for an unknown name.
double default_learning_rate(std::string_view optimizer);

}  // namespace kaiseki::nn
