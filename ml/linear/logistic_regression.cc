// SPDX-License-Identifier: MIT
#include "ml/linear/logistic_regression.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "matrix/ceil_div.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/softmax.h"
#include "ml/linear/lbfgs.h"
#include "ml/metrics/classification.h"

namespace kaiseki::ml {
namespace {

// Rows whose f32 sums become double. More rows would lose digits, fewer would cost time.
constexpr int64_t kRows = 16384;
// Another device adds all blocks. Fewer of them need fewer kernels.
constexpr int64_t kDeviceRows = 65536;
// The most sums of losses, which come to the host.
constexpr int64_t kMostSums = 64;
// For the default tolerance, the decrease where L-BFGS of SciPy stops.
constexpr double kValueTolerance = 2.2e-5;

/// The losses and gradients of a block of rows.
struct LossBlock {
  Tensor losses;  // [rows]
  Tensor deltas;  // [rows, outputs]: by the scores
};

/// The sum of the losses. Outputs are 1 for two classes.
class LogisticLoss {
 public:
  LogisticLoss(const Tensor& x, const LabelCodes& labels, const std::vector<double>& class_weights)
      : x_(with_contiguous_columns(x)) {
    const bool weighted = std::any_of(class_weights.begin(), class_weights.end(),
                                      [](double weight) { return weight != 1; });
    const bool binary = class_weights.size() == 2;
    outputs_ = binary ? 1 : static_cast<int64_t>(class_weights.size());
    const std::vector<double> truth(labels.codes.begin(), labels.codes.end());
    codes_ =
        binary ? tensor_from(truth, {x.dim(0)}, x.device()) : tensor_from(labels.codes, x.device());
    if (!weighted) return;
    std::vector<double> weights;
    for (int32_t code : labels.codes) weights.push_back(class_weights[static_cast<size_t>(code)]);
    weights_ = tensor_from(weights, {x.dim(0)}, x.device());
  }

  int64_t outputs() const { return outputs_; }
  int64_t features() const { return x_.dim(1); }

  /// Adds the gradients by w [outputs, features] and b [outputs]. Returns the value.
  double operator()(const Tensor& w, const Tensor& b, double* w_gradient,
                    double* b_gradient) const {
    const bool on_cpu = x_.device().is_cpu();
    const int64_t step = on_cpu ? kRows : std::max(kDeviceRows, ceil_div(x_.dim(0), kMostSums));
    double value = 0;
    std::vector<Tensor> values;
    Tensor w_sum({outputs_, features()}, DType::f32, x_.device());
    Tensor b_sum({outputs_}, DType::f32, x_.device());
    for (int64_t begin = 0; begin < x_.dim(0); begin += step) {
      const int64_t rows = std::min(step, x_.dim(0) - begin);
      const Tensor x = x_.slice(0, begin, rows);
      const LossBlock block = losses(x, w, b, begin, rows);
      const float keep = on_cpu || begin == 0 ? 0 : 1;
      gemm(block.deltas, x, w_sum, {.transpose_a = true, .beta = keep});
      reduce_into(b_sum, Reduction::sum, block.deltas, {0}, keep);
      if (on_cpu) {
        const float* const losses_of_rows = block.losses.data<float>();
        for (int64_t i = 0; i < rows; ++i) value += losses_of_rows[i];
      } else {
        values.push_back(sum(block.losses, {0}, true));
      }
      if (!on_cpu && begin + step < x_.dim(0)) continue;
      add(w_sum, w_gradient);
      add(b_sum, b_gradient);
    }
    if (!on_cpu)
      for (float sum : concatenate(values, 0).to_vector()) value += sum;
    return value;
  }

 private:
  static void add(const Tensor& from, double* to) {
    for (float value : from.to_vector()) *to++ += value;
  }

  LossBlock losses(const Tensor& x, const Tensor& w, const Tensor& b, int64_t begin,
                   int64_t rows) const {
    Tensor scores({rows, outputs_}, DType::f32, x.device());
    GemmOptions options;
    options.transpose_b = true;
    options.bias_per_column = &b;
    gemm(x, w, scores, options);
    const Tensor codes = codes_.slice(0, begin, rows);
    LossBlock block;
    if (outputs_ == 1) {
      block.losses = Tensor({rows}, DType::f32, x.device());
      // log(1 + exp(-s)) for the score s of the true class
      update("l = max((1 - 2*t) * z, 0.0) + log1p(exp(-abs(z))); z = sigmoid(z) - t",
             {{"l", block.losses}, {"z", scores.reshape({rows})}, {"t", codes}});
      block.deltas = scores;
    } else {
      const CrossEntropy entropy = softmax_cross_entropy(scores, codes);
      block.losses = entropy.losses;
      block.deltas = softmax_cross_entropy_backward(entropy.probabilities, codes, 1);
    }
    if (!weights_.defined()) return block;
    const Tensor weights = weights_.slice(0, begin, rows);
    block.losses = block.losses * weights;
    block.deltas = block.deltas * weights.reshape({rows, 1});
    return block;
  }

  Tensor x_, codes_, weights_;  // codes: f32 of 0 and 1 for two classes, else i32
  int64_t outputs_ = 1;
};

}  // namespace

LogisticRegression::LogisticRegression(LogisticRegressionOptions options)
    : options_(std::move(options)) {
  const std::string_view name = "LogisticRegression";
  require(options_.c > 0 && std::isfinite(options_.c), name, "expected C above 0, got ",
          options_.c);
  require(options_.max_iter > 0, name, "expected a max_iter of 1 or more, got ", options_.max_iter);
  require(options_.tol >= 0, name, "expected a tol of 0 or more, got ", options_.tol);
}

void LogisticRegression::fit(const Tensor& x, const Tensor& y) {
  const std::string_view name = "LogisticRegression";
  check_samples(x, name);
  const LabelCodes labels = encode_labels(read_labels(y, x.dim(0), name));
  check_classes(labels.classes, name);
  const LogisticLoss loss(x, labels, weights_of_classes(options_.class_weight, labels, name));
  const int64_t outputs = loss.outputs(), features = loss.features(), count = outputs * features;
  const double penalty = options_.penalty == LogisticPenalty::l2 ? 1 / options_.c : 0;
  const auto tensors = [&](const std::vector<double>& all) {
    return std::pair(
        tensor_from({all.begin(), all.begin() + count}, {outputs, features}, x.device()),
        tensor_from({all.begin() + count, all.end()}, {outputs}, x.device()));
  };
  const Objective objective = [&](const std::vector<double>& all, std::vector<double>& gradient) {
    std::fill(gradient.begin(), gradient.end(), 0.0);
    const auto parts = tensors(all);
    double value = loss(parts.first, parts.second, gradient.data(), gradient.data() + count);
    for (int64_t i = 0; i < count; ++i) {
      value += penalty / 2 * all[i] * all[i];
      gradient[i] += penalty * all[i];
    }
    if (!options_.fit_intercept) std::fill(gradient.begin() + count, gradient.end(), 0.0);
    return value;
  };
  std::vector<double> all(static_cast<size_t>(count + outputs));
  LbfgsOptions lbfgs;
  lbfgs.max_iter = options_.max_iter;
  lbfgs.tol = options_.tol;
  // The rounding errors of the losses cancel out in the sum of many.
  const double value_tol = kValueTolerance * options_.tol;
  if (5e-7 / std::sqrt(static_cast<double>(x.dim(0))) < value_tol) lbfgs.value_tol = value_tol;
  const LbfgsResult result = minimize_lbfgs(objective, all, lbfgs);
  iterations_ = result.iterations;
  converged_ = result.converged;
  classes_ = labels.classes;
  function_ = LinearFunction(
      {outputs, features, {all.begin(), all.begin() + count}, {all.begin() + count, all.end()}},
      false, x.device());
}

Tensor LogisticRegression::decision_function(const Tensor& x) const {
  const Tensor scores = function_.apply(x, "LogisticRegression.predict");
  return classes_.size() == 2 ? scores.reshape({x.dim(0)}) : scores;
}

Tensor LogisticRegression::predict(const Tensor& x) const {
  return labels_from_scores(decision_function(x), classes_);
}

Tensor LogisticRegression::predict_proba(const Tensor& x) const {
  const Tensor scores = decision_function(x);
  if (scores.rank() == 2) return softmax(scores);
  const Tensor column = scores.reshape({x.dim(0), 1});
  const Tensor parts[] = {elementwise("sigmoid(-z)", {{"z", column}}),
                          elementwise("sigmoid(z)", {{"z", column}})};
  return concatenate(parts, 1);
}

double LogisticRegression::score(const Tensor& x, const Tensor& y) const {
  return accuracy_score(y, predict(x));
}

}  // namespace kaiseki::ml
