// SPDX-License-Identifier: MIT
// The L1 penalty is that of Tsuruoka, Tsujii, Ananiadou, "Stochastic gradient descent training for
// L1-regularized log-linear models with cumulative penalty", 2009.
#include "ml/linear/sgd_steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "matrix/random.h"
#include "matrix/threads.h"
#include "ml/linear/wide.h"
#include "ml/progress.h"

namespace kaiseki::ml {
namespace {

constexpr double kLargestSlope = 1e12, kSmallestScale = 1e-9, kSmallestRate = 1e-6;

double loss_of(const SgdProblem& problem, double p, double y) {
  const double z = p * y, r = p - y;
  switch (problem.loss) {
    case SgdLoss::hinge:
      return std::max(0.0, 1 - z);
    case SgdLoss::squared_hinge:
      return z < 1 ? (1 - z) * (1 - z) : 0;
    case SgdLoss::log:
      return std::max(0.0, -z) + std::log1p(std::exp(-std::abs(z)));
    case SgdLoss::perceptron:
      return std::max(0.0, -z);
    case SgdLoss::huber:
      if (std::abs(r) > problem.epsilon)
        return problem.epsilon * std::abs(r) - 0.5 * problem.epsilon * problem.epsilon;
      return 0.5 * r * r;
    case SgdLoss::modified_huber:
      return z >= -1 ? std::pow(std::max(0.0, 1 - z), 2) : -4 * z;
    case SgdLoss::epsilon_insensitive:
      return std::max(0.0, std::abs(r) - problem.epsilon);
    case SgdLoss::squared_epsilon_insensitive:
      return std::pow(std::max(0.0, std::abs(r) - problem.epsilon), 2);
    case SgdLoss::squared_error:
      break;
  }
  return 0.5 * r * r;
}

/// The derivative of the loss by p.
double slope_of(const SgdProblem& problem, double p, double y) {
  const double z = p * y, r = p - y;
  switch (problem.loss) {
    case SgdLoss::hinge:
      return z <= 1 ? -y : 0;
    case SgdLoss::squared_hinge:
      return z < 1 ? -2 * y * (1 - z) : 0;
    case SgdLoss::log:
      return -y / (std::exp(z) + 1);
    case SgdLoss::perceptron:
      return z <= 0 ? -y : 0;
    case SgdLoss::huber:
      return std::clamp(r, -problem.epsilon, problem.epsilon);
    case SgdLoss::modified_huber:
      return z >= -1 ? -2 * y * std::max(0.0, 1 - z) : -4 * y;
    case SgdLoss::epsilon_insensitive:
      return std::abs(r) > problem.epsilon ? std::copysign(1.0, r) : 0;
    case SgdLoss::squared_epsilon_insensitive:
      return std::copysign(2 * std::max(0.0, std::abs(r) - problem.epsilon), r);
    case SgdLoss::squared_error:
      break;
  }
  return r;
}

bool is_classification(SgdLoss loss) {
  return loss == SgdLoss::hinge || loss == SgdLoss::squared_hinge || loss == SgdLoss::log ||
         loss == SgdLoss::modified_huber || loss == SgdLoss::perceptron;
}

class SgdRun {
 public:
  SgdRun(const SgdSamples& samples, const SgdProblem& problem, SgdState& state)
      : samples_(samples), problem_(problem), state_(state), rate_(problem.eta0) {
    const auto features = static_cast<size_t>(samples.features);
    state.w.resize(features);
    if (problem.average) state.average_w.resize(features);
    if (l1() > 0) state.l1_used.resize(features);
    if (problem.learning_rate == LearningRate::optimal) {
      const double typical = std::sqrt(1 / std::sqrt(problem.alpha));
      first_ = 1 / (problem.alpha * typical / std::max(1.0, slope_of(problem, -typical, 1)));
    }
  }

  /// Returns the sum of the losses.
  double pass(const std::vector<int64_t>& order) {
    double losses = 0;
    for (int64_t i : order) losses += step(samples_.x + i * samples_.features, samples_.y[i]);
    apply_scale();
    return losses;
  }

  /// Returns whether the rate can still fall.
  bool lower_rate() {
    if (problem_.learning_rate != LearningRate::adaptive || rate_ <= kSmallestRate) return false;
    rate_ /= 5;
    return true;
  }

 private:
  double l1() const {
    if (problem_.penalty == SgdPenalty::l1) return 1;
    return problem_.penalty == SgdPenalty::elasticnet ? problem_.l1_ratio : 0;
  }

  double rate() const {
    if (problem_.learning_rate == LearningRate::optimal)
      return 1 / (problem_.alpha * (first_ + state_.t - 1));
    if (problem_.learning_rate == LearningRate::invscaling)
      return problem_.eta0 / std::pow(state_.t, problem_.power_t);
    return rate_;
  }

  /// The factor of x in the change of w.
  double update(const float* x, double p, double y, double loss, double rate) const {
    double factor = 0;
    if (problem_.learning_rate == LearningRate::passive_aggressive_1) {
      const double squares = wide_squares(samples_.features, x);
      factor = squares > 0 ? std::min(problem_.c, loss / squares) : 0;
    } else if (problem_.learning_rate == LearningRate::passive_aggressive_2) {
      factor = loss / (wide_squares(samples_.features, x) + 0.5 / problem_.c);
    } else {
      const double slope = std::clamp(slope_of(problem_, p, y), -kLargestSlope, kLargestSlope);
      return -rate * slope;
    }
    if (is_classification(problem_.loss)) return factor * y;
    return y < p ? -factor : factor;
  }

  /// Returns the loss before the step.
  double step(const float* x, double y) {
    const double p = scale_ * wide_dot(samples_.features, x, state_.w.data()) + state_.b;
    const double loss = loss_of(problem_, p, y), eta = rate();
    const double weight = y > 0 ? samples_.positive_weight : samples_.negative_weight;
    const double factor = weight * update(x, p, y, loss, eta);
    const bool l2 =
        problem_.penalty == SgdPenalty::l2 || problem_.penalty == SgdPenalty::elasticnet;
    if (l2) shrink(std::max(0.0, 1 - (1 - l1()) * eta * problem_.alpha));
    if (factor != 0) {
      wide_add(samples_.features, factor / scale_, x, state_.w.data());
      if (problem_.fit_intercept) state_.b += factor;
    }
    if (l1() > 0) shrink_by_l1(l1() * eta * problem_.alpha);
    if (problem_.average) add_to_average();
    state_.t += 1;
    return loss;
  }

  void shrink(double factor) {
    scale_ *= factor;
    if (scale_ < kSmallestScale) apply_scale();
  }

  void apply_scale() {
    if (scale_ == 1) return;
    for (double& w : state_.w) w *= scale_;
    scale_ = 1;
  }

  void shrink_by_l1(double amount) {
    state_.l1_total += amount;
    for (size_t j = 0; j < state_.w.size(); ++j) {
      double &w = state_.w[j], &used = state_.l1_used[j];
      const double before = w;
      if (before > 0)
        w = std::max(0.0, before - (state_.l1_total + used) / scale_);
      else if (before < 0)
        w = std::min(0.0, before + (state_.l1_total - used) / scale_);
      used += scale_ * (w - before);
    }
  }

  void add_to_average() {
    const double part = 1 / state_.t;
    for (size_t j = 0; j < state_.w.size(); ++j)
      state_.average_w[j] += part * (scale_ * state_.w[j] - state_.average_w[j]);
    state_.average_b += part * (state_.b - state_.average_b);
  }

  const SgdSamples& samples_;
  const SgdProblem& problem_;
  SgdState& state_;
  double scale_ = 1;  // the weights are scale_ * state_.w
  double rate_, first_ = 0;
};

bool finite(const SgdState& state) {
  return std::isfinite(state.b) &&
         std::all_of(state.w.begin(), state.w.end(), [](double w) { return std::isfinite(w); });
}

}  // namespace

void check_problem(const SgdProblem& p, std::string_view name) {
  require(p.alpha >= 0 && std::isfinite(p.alpha), name, "expected an alpha of 0 or more, got ",
          p.alpha);
  require(p.l1_ratio >= 0 && p.l1_ratio <= 1, name, "expected an l1_ratio from 0 to 1, got ",
          p.l1_ratio);
  require(p.epsilon >= 0, name, "expected an epsilon of 0 or more, got ", p.epsilon);
  require(p.c > 0, name, "expected C above 0, got ", p.c);
  require(p.max_iter > 0, name, "expected a max_iter of 1 or more, got ", p.max_iter);
  require(p.n_iter_no_change > 0, name, "expected an n_iter_no_change of 1 or more, got ",
          p.n_iter_no_change);
  const LearningRate rate = p.learning_rate;
  require(rate != LearningRate::optimal || p.alpha > 0, name,
          "expected an alpha above 0 for the learning rate `optimal`, got ", p.alpha);
  const bool uses_eta0 = rate == LearningRate::constant || rate == LearningRate::invscaling ||
                         rate == LearningRate::adaptive;
  require(!uses_eta0 || p.eta0 > 0, name, "expected an eta0 above 0, got ", p.eta0);
}

int64_t run_sgd(const SgdSamples& samples, const SgdProblem& problem, int64_t epochs,
                uint64_t stream, SgdState& state) {
  SgdRun run(samples, problem, state);
  Random random(problem.seed, stream);
  random.seek(state.position);
  std::vector<int64_t> order(static_cast<size_t>(samples.count));
  std::iota(order.begin(), order.end(), int64_t{0});
  double best = std::numeric_limits<double>::infinity();
  int64_t without_change = 0, done = 0;
  while (done < epochs) {
    throw_if_stopped();
    report_progress("passes", done, epochs);
    for (size_t i = order.size(); i > 1 && problem.shuffle; --i)
      std::swap(order[i - 1], order[static_cast<size_t>(random.below(i))]);
    const double losses = run.pass(order);
    ++done;
    if (!finite(state) || !std::isfinite(losses))
      throw Error(message("sgd", "the weights became infinite in pass ", done,
                          "; scale the features or lower the learning rate"));
    const bool stays = losses > best - problem.tol * static_cast<double>(samples.count);
    without_change = stays ? without_change + 1 : 0;
    best = std::min(best, losses);
    if (without_change < problem.n_iter_no_change) continue;
    if (!run.lower_rate()) break;
    without_change = 0;
  }
  state.position = random.position();
  return done;
}

}  // namespace kaiseki::ml
