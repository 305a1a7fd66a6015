// SPDX-License-Identifier: MIT
// The steps of the learners that keep a normal distribution of the weights, with a diagonal
// covariance. For a sample x with y = -1 or 1, m = y (mean . x) is the margin and
// v = sum(variance x^2) is its variance. All steps have the form mean += a y variance x.
#pragma once

#include <cstdint>
#include <vector>

namespace kaiseki::ml {

enum class ConfidenceMethod : uint8_t {
  cw,     // Dredze, Crammer, Pereira, "Confidence-weighted linear classification", 2008
  scw1,   // Wang, Zhao, Hoi, "Exact soft confidence-weighted learning", 2012
  arow,   // Crammer, Kulesza, Dredze, "Adaptive regularization of weight vectors", 2009
  nherd,  // Crammer, Lee, "Learning via Gaussian herding", 2010
};

struct ConfidenceProblem {
  ConfidenceMethod method = ConfidenceMethod::cw;
  double phi = 0;  // the normal quantile of the confidence, for cw and scw1
  double c = 1;    // for scw1 and nherd
  double r = 1;    // for arow
};

/// The factor a of the step, and the change of the variance.
struct ConfidenceStep {
  double mean = 0;
  double product = 0;    // variance -= product (variance x)^2
  double precision = 0;  // 1 / variance += precision x^2
};
ConfidenceStep confidence_step(const ConfidenceProblem& problem, double m, double v);

/// The x with P(z <= x) = p for a standard normal z. 0 < p < 1.
double normal_quantile(double p);

}  // namespace kaiseki::ml
