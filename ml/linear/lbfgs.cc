// SPDX-License-Identifier: MIT
#include "ml/linear/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <utility>

#include "matrix/threads.h"
#include "ml/progress.h"

namespace kaiseki::ml {
namespace {

using Vector = std::vector<double>;

constexpr double kDecrease = 1e-4, kCurvature = 0.9;  // of the Wolfe conditions
constexpr int kTrials = 40;
constexpr int64_t kPatience = 20;  // steps without progress before the minimum counts as reached

double product(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add_to(Vector& y, double factor, const Vector& x) {
  for (size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

double largest_of(const Vector& v) {
  double largest = 0;
  for (double value : v) largest = std::max(largest, std::abs(value));
  return largest;
}

/// A step, the change of the gradient along it, and 1 / (their product).
struct CurvaturePair {
  Vector step, change;
  double inverse;
};

/// The direction -H gradient, by the two-loop recursion.
Vector descent_direction(const std::deque<CurvaturePair>& pairs, const Vector& gradient) {
  Vector direction = gradient;
  std::vector<double> factors(pairs.size());
  for (size_t i = pairs.size(); i-- > 0;) {
    factors[i] = pairs[i].inverse * product(pairs[i].step, direction);
    add_to(direction, -factors[i], pairs[i].change);
  }
  if (!pairs.empty()) {
    const CurvaturePair& last = pairs.back();
    const double scale = 1 / (last.inverse * product(last.change, last.change));
    for (double& value : direction) value *= scale;
  }
  for (size_t i = 0; i < pairs.size(); ++i)
    add_to(direction, factors[i] - pairs[i].inverse * product(pairs[i].change, direction),
           pairs[i].step);
  for (double& value : direction) value = -value;
  return direction;
}

struct Point {
  Vector w, gradient;
  double value = 0;
};

/// Moves `at` along the direction, so that the Wolfe conditions hold. Returns whether it moved.
bool search_line(const Objective& objective, const Vector& direction, double step, double noise,
                 Point& at) {
  const double slope = product(at.gradient, direction);
  double low = 0, high = std::numeric_limits<double>::infinity();
  Point next{at.w, at.gradient, 0};
  for (int trial = 0; trial < kTrials; ++trial) {
    throw_if_stopped();
    next.w = at.w;
    add_to(next.w, step, direction);
    next.value = objective(next.w, next.gradient);
    const double next_slope = product(next.gradient, direction);
    const bool decreases = next.value <= at.value + kDecrease * step * slope;
    const bool decreases_by_slope = next.value <= at.value + noise * std::abs(at.value) &&
                                    next_slope <= (2 * kDecrease - 1) * slope;
    if (!std::isfinite(next.value) || !(decreases || decreases_by_slope)) {
      high = step;
    } else if (next_slope < kCurvature * slope) {
      low = step;
    } else {
      std::swap(at, next);
      return true;
    }
    step = std::isfinite(high) ? (low + high) / 2 : 2 * step;
    if (high - low <= 1e-12 * high) break;
  }
  return false;
}

}  // namespace

LbfgsResult minimize_lbfgs(const Objective& objective, Vector& w, const LbfgsOptions& options) {
  Point at{w, Vector(w.size()), 0};
  at.value = objective(at.w, at.gradient);
  std::deque<CurvaturePair> pairs;
  LbfgsResult result;
  Point best = at;
  double reference = at.value;
  int64_t without_progress = 0;
  while (result.iterations < options.max_iter) {
    report_progress("iterations", result.iterations, options.max_iter);
    result.converged = largest_of(at.gradient) <= options.tol;
    if (result.converged) break;
    Vector direction = descent_direction(pairs, at.gradient);
    if (product(direction, at.gradient) >= 0) {
      pairs.clear();
      direction = descent_direction(pairs, at.gradient);
    }
    const double norm = std::sqrt(product(at.gradient, at.gradient));
    const Point before = at;
    const double step = pairs.empty() ? std::min(1.0, 1 / norm) : 1.0;
    if (!search_line(objective, direction, step, options.noise, at)) {
      if (pairs.empty()) {
        // No step along the gradient helps. With huge feature values, steps are too long instead.
        result.converged = step * norm * norm <= 100 * options.noise * std::abs(at.value);
        break;
      }
      pairs.clear();
      continue;
    }
    ++result.iterations;
    // The rule of L-BFGS-B (Zhu, Byrd, Lu, Nocedal, 1997).
    const double scale = std::max({std::abs(before.value), std::abs(at.value), 1.0});
    if (options.value_tol > 0 && before.value - at.value <= options.value_tol * scale) {
      result.converged = true;
      break;
    }
    // In the noise, a step may be accepted by chance. Then neither value improves for long.
    const double gradient = largest_of(at.gradient), smallest = largest_of(best.gradient);
    const bool progress =
        at.value < reference - options.noise * std::abs(reference) || gradient < 0.9 * smallest;
    if (gradient < smallest) best = at;
    reference = std::min(reference, at.value);
    without_progress = progress ? 0 : without_progress + 1;
    if (without_progress == kPatience) {
      result.converged = true;
      break;
    }
    CurvaturePair pair{at.w, at.gradient, 0};
    add_to(pair.step, -1, before.w);
    add_to(pair.change, -1, before.gradient);
    const double curvature = product(pair.step, pair.change);
    if (curvature > 1e-14 * product(pair.change, pair.change)) {
      pair.inverse = 1 / curvature;
      pairs.push_back(std::move(pair));
      if (static_cast<int64_t>(pairs.size()) > options.memory) pairs.pop_front();
    }
  }
  const bool as_low = best.value <= at.value + options.noise * std::abs(at.value);
  if (as_low && largest_of(best.gradient) < largest_of(at.gradient)) at = best;
  result.converged = result.converged || largest_of(at.gradient) <= options.tol;
  result.value = at.value;
  result.largest_gradient = largest_of(at.gradient);
  w = std::move(at.w);
  return result;
}

}  // namespace kaiseki::ml
