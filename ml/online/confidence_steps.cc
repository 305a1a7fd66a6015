// SPDX-License-Identifier: MIT
#include "ml/online/confidence_steps.h"

#include <algorithm>
#include <cmath>

namespace kaiseki::ml {
namespace {

/// The smallest step after which m >= phi v.
ConfidenceStep cw_step(const ConfidenceProblem& p, double m, double v) {
  if (v <= 0) return {};
  const double b = 1 + 2 * p.phi * m;
  const double root = std::sqrt(std::max(0.0, b * b - 8 * p.phi * (m - p.phi * v)));
  const double a = std::max(0.0, (root - b) / (4 * p.phi * v));
  return {a, 0, 2 * a * p.phi};
}

/// The smallest step after which m >= phi sqrt(v), if it is at most c.
ConfidenceStep scw1_step(const ConfidenceProblem& p, double m, double v) {
  if (v <= 0 || p.phi * std::sqrt(v) <= m) return {};
  const double square = p.phi * p.phi, psi = 1 + square / 2, zeta = 1 + square;
  const double root = std::sqrt(m * m * square * square / 4 + v * square * zeta);
  const double a = std::min(p.c, std::max(0.0, (root - m * psi) / (v * zeta)));
  const double t = a * v * p.phi;
  const double root_u = (std::sqrt(t * t + 4 * v) - t) / 2;
  return {a, a * p.phi / (root_u + t), 0};
}

ConfidenceStep arow_step(const ConfidenceProblem& p, double m, double v) {
  if (m >= 1) return {};
  const double b = 1 / (v + p.r);
  return {(1 - m) * b, b, 0};
}

ConfidenceStep nherd_step(const ConfidenceProblem& p, double m, double v) {
  if (m >= 1) return {};
  return {(1 - m) / (v + 1 / p.c), 0, 2 * p.c + p.c * p.c * v};
}

}  // namespace

ConfidenceStep confidence_step(const ConfidenceProblem& problem, double m, double v) {
  switch (problem.method) {
    case ConfidenceMethod::cw:
      return cw_step(problem, m, v);
    case ConfidenceMethod::scw1:
      return scw1_step(problem, m, v);
    case ConfidenceMethod::arow:
      return arow_step(problem, m, v);
    case ConfidenceMethod::nherd:
      break;
  }
  return nherd_step(problem, m, v);
}

double normal_quantile(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace kaiseki::ml
