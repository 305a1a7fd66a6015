// SPDX-License-Identifier: MIT
#include "ml/linear/sgd.h"

#include <algorithm>

#include "matrix/ops/check.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "matrix/threads.h"
#include "ml/metrics/classification.h"
#include "ml/metrics/regression.h"
#include "ml/progress.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

template <typename Options>
SgdProblem problem_of(const Options& o) {
  SgdProblem p = penalized_sgd_problem(o);
  p.loss = o.loss;
  p.epsilon = o.epsilon;
  p.learning_rate = o.learning_rate;
  p.power_t = o.power_t;
  return p;
}

/// The function of each state, or its average.
LinearFunction function_of(const std::vector<SgdState>& states, bool average, bool flat,
                           Device device) {
  LinearWeights weights;
  weights.outputs = static_cast<int64_t>(states.size());
  weights.features = static_cast<int64_t>(states.front().w.size());
  for (const SgdState& state : states) {
    const std::vector<double>& w = average ? state.average_w : state.w;
    weights.coefficients.insert(weights.coefficients.end(), w.begin(), w.end());
    weights.intercept.push_back(average ? state.average_b : state.b);
  }
  return LinearFunction(weights, flat, device);
}

}  // namespace

OneVsRestSgd::OneVsRestSgd(const SgdProblem& problem, ClassWeights weights, std::string_view name)
    : problem_(problem), class_weight_(std::move(weights)), name_(name) {
  check_problem(problem, name_);
}

void OneVsRestSgd::run(const Tensor& x, const std::vector<int32_t>& codes, int64_t epochs,
                       LearnedStates next) {
  const Tensor host = on_host(x);
  if (next.states.empty()) next.states.resize(next.classes.size() == 2 ? 1 : next.classes.size());
  std::vector<int64_t> passes(next.states.size());
  const bool binary = next.states.size() == 1;
  // Other threads report nothing, and they may take every function.
  report_progress("passes", 0, epochs);
  parallel_for(static_cast<int64_t>(next.states.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t f = begin; f < end; ++f) {
      const auto function = static_cast<size_t>(f);
      const int64_t positive = binary ? 1 : f;
      std::vector<double> y;
      for (int32_t code : codes) y.push_back(code == positive ? 1 : -1);
      SgdSamples samples{host.data<float>(), host.dim(0), host.dim(1), y.data(), 1, 1};
      samples.positive_weight = next.weights[static_cast<size_t>(positive)];
      if (binary) samples.negative_weight = next.weights[0];
      passes[function] =
          run_sgd(samples, problem_, epochs, static_cast<uint64_t>(f), next.states[function]);
    }
  });
  function_ = function_of(next.states, problem_.average, false, x.device());
  learned_ = std::move(next);
  iterations_ = *std::max_element(passes.begin(), passes.end());
}

void OneVsRestSgd::fit(const Tensor& x, const Tensor& y) {
  check_samples(x, name_);
  const LabelCodes labels = encode_labels(read_labels(y, x.dim(0), name_));
  check_classes(labels.classes, name_);
  run(x, labels.codes, problem_.max_iter,
      {labels.classes, weights_of_classes(class_weight_, labels, name_), {}});
}

void OneVsRestSgd::partial_fit(const Tensor& x, const Tensor& y,
                               const std::vector<int32_t>& classes) {
  require(!class_weight_.balanced, name_,
          "expected class weights by label for partial_fit(), got balanced ones");
  LearnedStates next = learned_;
  next.classes = classes_of_call(x, classes, function_, learned_.classes, name_);
  if (!function_.defined())
    next.weights = weights_of_classes(class_weight_, encode_labels(classes), name_);
  const std::vector<int32_t> codes =
      encode_labels(read_labels(y, x.dim(0), name_), next.classes, name_);
  run(x, codes, 1, std::move(next));
}

Tensor OneVsRestSgd::decision_function(const Tensor& x) const {
  const Tensor scores = function_.apply(x, name_);
  return classes().size() == 2 ? scores.reshape({x.dim(0)}) : scores;
}

Tensor OneVsRestSgd::predict(const Tensor& x) const {
  return labels_from_scores(decision_function(x), classes());
}

double OneVsRestSgd::score(const Tensor& x, const Tensor& y) const {
  return accuracy_score(y, predict(x));
}

SGDClassifier::SGDClassifier(const SGDClassifierOptions& options)
    : OneVsRestSgd(problem_of(options), options.class_weight, "SGDClassifier"),
      loss_(options.loss) {}

Tensor SGDClassifier::predict_proba(const Tensor& x) const {
  require(loss_ == SgdLoss::log, name(), "expected the loss `log` for probabilities");
  const Tensor scores = decision_function(x);
  if (scores.rank() == 1) {
    const Tensor column = scores.reshape({x.dim(0), 1});
    const Tensor parts[] = {elementwise("sigmoid(-z)", {{"z", column}}),
                            elementwise("sigmoid(z)", {{"z", column}})};
    return concatenate(parts, 1);
  }
  const Tensor each = elementwise("sigmoid(z)", {{"z", scores}});
  const auto classes = static_cast<float>(scores.dim(1));
  // If all probabilities are 0, the classes are equally likely.
  return elementwise("s > 0 ? p / s : 1 / k",
                     {{"p", each}, {"s", sum(each, {1}, true)}, {"k", classes}});
}

SGDRegressor::SGDRegressor(const SGDRegressorOptions& options)
    : SGDRegressor(problem_of(options), "SGDRegressor") {
  const SgdLoss loss = options.loss;
  const bool known = loss == SgdLoss::squared_error || loss == SgdLoss::huber ||
                     loss == SgdLoss::epsilon_insensitive ||
                     loss == SgdLoss::squared_epsilon_insensitive;
  require(known, name_,
          "expected the loss squared_error, huber, epsilon_insensitive or "
          "squared_epsilon_insensitive");
}

SGDRegressor::SGDRegressor(const SgdProblem& problem, std::string_view name)
    : problem_(problem), name_(name) {
  check_problem(problem_, name_);
}

void SGDRegressor::run(const Tensor& x, const Tensor& y, int64_t epochs, SgdState next) {
  check_targets(y, x, name_);
  require(y.rank() == 1, name_, "expected y of shape [n], got ", y.shape());
  const Tensor host = on_host(x);
  const std::vector<float> narrow = y.to_vector();
  const std::vector<double> targets(narrow.begin(), narrow.end());
  const SgdSamples samples{host.data<float>(), host.dim(0), host.dim(1), targets.data(), 1, 1};
  const int64_t passes = run_sgd(samples, problem_, epochs, 0, next);
  function_ = function_of({next}, problem_.average, true, x.device());
  state_ = std::move(next);
  iterations_ = passes;
}

void SGDRegressor::fit(const Tensor& x, const Tensor& y) {
  check_samples(x, name_);
  run(x, y, problem_.max_iter, {});
}

void SGDRegressor::partial_fit(const Tensor& x, const Tensor& y) {
  if (!function_.defined())
    check_samples(x, name_);
  else
    check_samples(x, function_.features(), name_);
  run(x, y, 1, state_);
}

double SGDRegressor::score(const Tensor& x, const Tensor& y) const {
  return r2_score(y, predict(x));
}

}  // namespace kaiseki::ml
