// SPDX-License-Identifier: MIT
// Compares several steps of every optimizer with PyTorch's formulas in double.
#include "nn/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "matrix/random.h"

namespace kaiseki::nn {
namespace {

std::vector<float> random_values(int64_t n, uint64_t stream) {
  Random random(7, stream);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = random.normal();
  return values;
}

/// The formulas of torch.optim for one parameter, in double.
struct Reference {
  std::vector<double> w, a, b;
  int64_t t = 0;

  void step(const OptimizerOptions& o, const std::vector<float>& gradient, double lr, double clip,
            bool decays) {
    ++t;
    const double decay = decays ? o.weight_decay.value_or(o.name == "adamw" ? 0.01 : 0) : 0;
    for (size_t i = 0; i < w.size(); ++i) {
      double g = clip * static_cast<double>(gradient[i]);
      if (o.name == "adamw")
        w[i] -= lr * decay * w[i];
      else
        g += decay * w[i];
      if (o.name == "sgd") {
        w[i] -= lr * g;
      } else if (o.name == "momentum" || o.name == "nesterov") {
        a[i] = t == 1 ? g : o.momentum * a[i] + g;
        w[i] -= lr * (o.name == "nesterov" ? g + o.momentum * a[i] : a[i]);
      } else if (o.name == "adagrad") {
        a[i] += g * g;
        w[i] -= lr * g / (std::sqrt(a[i]) + o.epsilon.value_or(1e-10));
      } else if (o.name == "rmsprop") {
        a[i] = o.alpha * a[i] + (1 - o.alpha) * g * g;
        w[i] -= lr * g / (std::sqrt(a[i]) + o.epsilon.value_or(1e-8));
      } else {
        a[i] = o.beta1 * a[i] + (1 - o.beta1) * g;
        b[i] = o.beta2 * b[i] + (1 - o.beta2) * g * g;
        const double mean = a[i] / (1 - std::pow(o.beta1, static_cast<double>(t)));
        const double square = b[i] / (1 - std::pow(o.beta2, static_cast<double>(t)));
        w[i] -= lr * mean / (std::sqrt(square) + o.epsilon.value_or(1e-8));
      }
    }
  }
};

struct Case {
  std::vector<Parameter> parameters;
  Gradients of_parameters;
  std::vector<Reference> references;

  explicit Case(std::initializer_list<Shape> shapes) {
    for (const Shape& shape : shapes) {
      const uint64_t number = parameters.size();
      std::vector<float> values = random_values(shape.elements(), number);
      parameters.push_back({"p" + std::to_string(number),
                            Tensor::from(std::span<const float>(values), shape), number % 2 == 0});
      of_parameters.values.push_back(Tensor::zeros(shape));
      Reference reference;
      reference.w.assign(values.begin(), values.end());
      reference.a.assign(values.size(), 0);
      reference.b.assign(values.size(), 0);
      references.push_back(reference);
    }
  }

  void step(Optimizer& optimizer, double lr, uint64_t number) {
    double squares = 0;
    std::vector<std::vector<float>> gradients;
    for (size_t p = 0; p < parameters.size(); ++p) {
      gradients.push_back(random_values(parameters[p].value.size(), 100 * (number + 1) + p));
      std::copy(gradients[p].begin(), gradients[p].end(),
                of_parameters.values[p].overwrite<float>());
      for (float g : gradients[p]) squares += static_cast<double>(g) * g;
    }
    const double limit = optimizer.options().clip_norm;
    const double clip = limit > 0 ? std::min(1.0, limit / (std::sqrt(squares) + 1e-6)) : 1;
    optimizer.step(parameters, of_parameters, lr);
    for (size_t p = 0; p < parameters.size(); ++p)
      references[p].step(optimizer.options(), gradients[p], lr, clip, parameters[p].decay);
  }

  /// A step has five roundings of 2^-24 on values of about 1. Ten steps stay below 1e-5.
  void compare() const {
    for (size_t p = 0; p < parameters.size(); ++p) {
      const std::vector<float> w = parameters[p].value.to_vector();
      for (size_t i = 0; i < w.size(); ++i)
        REQUIRE(static_cast<double>(w[i]) == doctest::Approx(references[p].w[i]).epsilon(1e-5));
    }
  }
};

}  // namespace

TEST_CASE("optimizer: each optimizer follows its formula") {
  for (const std::string& name : optimizer_names())
    for (double decay : {-1.0, 0.0, 0.05})
      for (double clip : {0.0, 0.5, 1e6}) {
        CAPTURE(name);
        CAPTURE(decay);
        CAPTURE(clip);
        OptimizerOptions options;
        options.name = name;
        options.clip_norm = clip;
        if (decay >= 0) options.weight_decay = decay;
        Optimizer optimizer(options);
        Case run({{1}, {3, 5}, {127}, {2, 3, 5, 7}});
        for (uint64_t i = 0; i < 10; ++i) run.step(optimizer, 0.01 / (1.0 + 0.1 * i), i);
        CHECK(optimizer.steps() == 10);
        run.compare();
      }
}

TEST_CASE("optimizer: settings other than the defaults") {
  OptimizerOptions options;
  options.name = "adam";
  options.beta1 = 0.5;
  options.beta2 = 0.9;
  options.epsilon = 1e-3;
  Optimizer adam(options);
  Case run({{17}});
  for (uint64_t i = 0; i < 6; ++i) run.step(adam, 0.1, i);
  run.compare();

  options.name = "rmsprop";
  options.alpha = 0.5;
  Optimizer rmsprop(options);
  Case other({{17}});
  for (uint64_t i = 0; i < 6; ++i) other.step(rmsprop, 0.01, i);
  other.compare();

  options.name = "adagrad";
  options.initial_square_sum = 0.01;
  Optimizer adagrad(options);
  Case third({{17}, {3, 5}});
  for (Reference& reference : third.references) reference.a.assign(reference.w.size(), 0.01);
  for (uint64_t i = 0; i < 6; ++i) third.step(adagrad, 0.05, i);
  third.compare();
}

TEST_CASE("optimizer: continues with the same bits from saved states") {
  for (const std::string& name : optimizer_names()) {
    CAPTURE(name);
    OptimizerOptions options;
    options.name = name;
    Optimizer whole(options), first(options), second(options);
    Case straight({{33}, {5}}), resumed({{33}, {5}});
    for (uint64_t i = 0; i < 6; ++i) straight.step(whole, 0.01, i);
    for (uint64_t i = 0; i < 3; ++i) resumed.step(first, 0.01, i);
    std::vector<State> from = first.states(resumed.parameters);
    std::vector<State> to = second.states(resumed.parameters);
    REQUIRE(from.size() == to.size());
    for (size_t i = 0; i < from.size(); ++i) {
      REQUIRE(from[i].name == to[i].name);
      std::vector<float> values = from[i].value.to_vector();
      std::copy(values.begin(), values.end(), to[i].value.overwrite<float>());
    }
    second.set_steps(first.steps());
    for (uint64_t i = 3; i < 6; ++i) resumed.step(second, 0.01, i);
    for (size_t p = 0; p < 2; ++p)
      CHECK(straight.parameters[p].value.to_vector() == resumed.parameters[p].value.to_vector());
  }
}

TEST_CASE("optimizer: clipping propagates NaN and accepts zero parameters") {
  OptimizerOptions options;
  options.clip_norm = 1;
  Optimizer optimizer(options);
  optimizer.step({}, {}, 0.1);
  std::vector<Parameter> parameters{{"w", Tensor::full({3}, 1)}};
  optimizer.step(parameters, {{Tensor::full({3}, NAN)}}, 0.1);
  CHECK(std::isnan(parameters[0].value.to_vector()[0]));
}

TEST_CASE("optimizer: an option out of range throws Error with its name") {
  OptimizerOptions options;
  options.name = "sdg";
  CHECK_THROWS_WITH_AS(Optimizer{options},
                       "[optimizer] expected one of sgd, momentum, nesterov, adagrad, rmsprop, "
                       "adam, adamw, got 'sdg'",
                       Error);
  options.name = "adam";
  options.beta1 = 1;
  CHECK_THROWS_WITH_AS(Optimizer{options}, "[optimizer] expected beta1 from 0 to below 1, got 1",
                       Error);
  options.beta1 = 0.9;
  options.weight_decay = -1;
  CHECK_THROWS_AS(Optimizer{options}, Error);
  options.weight_decay = 0;
  options.initial_square_sum = -0.01;
  CHECK_THROWS_AS(Optimizer{options}, Error);
  CHECK(default_learning_rate("adamw") == 0.001);
}

}  // namespace kaiseki::nn
