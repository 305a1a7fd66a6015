// SPDX-License-Identifier: MIT
#include "matrix/linalg/secular.h"

#include <cmath>
#include <limits>

#include "matrix/linalg/kernels.h"

namespace kaiseki::linalg {
namespace {

constexpr int kMaxSteps = 100;  // about five are usual; bisection alone needs 60

/// The secular function 1/rho + sum of z_i^2 / (poles_i - origin - x) and its parts.
struct SecularValue {
  double value, size;  // size: the sum of the magnitudes
  double left, right;  // the derivatives of the terms up to pole `index`, and of those after it
};

SecularValue evaluate(const RankOneUpdate& u, int64_t index, double origin, double x) {
  const auto n = static_cast<int64_t>(u.poles.size());
  const PoleSums left = pole_sums(index + 1, u.poles.data(), u.z.data(), origin, x);
  const PoleSums right =
      pole_sums(n - index - 1, u.poles.data() + index + 1, u.z.data() + index + 1, origin, x);
  return {1 / u.rho + left.sum + right.sum, 1 / u.rho + std::abs(left.sum) + std::abs(right.sum),
          left.derivative, right.derivative};
}

/// Returns the root of the rational function with the same value and derivatives. It has one pole
/// on each side, or only the left one if `next` is infinite.
double interpolated(const SecularValue& f, double x, double pole, double next) {
  const double a = pole - x;
  if (std::isinf(next)) {
    const double c = f.value - a * f.left;
    return x + a + a * a * f.left / c;
  }
  const double b = next - x;
  const double c = f.value - a * f.left - b * f.right;
  const double p = (a + b) * f.value - a * b * (f.left + f.right), q = a * b * f.value;
  const double root = std::sqrt(std::max(0.0, p * p - 4 * q * c));
  return x + (p <= 0 ? (p - root) / (2 * c) : 2 * q / (p + root));
}

}  // namespace

double secular_root(const RankOneUpdate& u, int64_t index, double* differences) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const auto n = static_cast<int64_t>(u.poles.size());
  const bool last = index == n - 1;
  double norm = 0;
  if (last)
    for (double z : u.z) norm += z * z;
  const double gap = last ? u.rho * norm : u.poles[index + 1] - u.poles[index];
  // The nearer pole is the origin, so that differences to it have no cancellation.
  const bool from_next = !last && evaluate(u, index, u.poles[index], gap / 2).value < 0;
  const double origin = u.poles[from_next ? index + 1 : index];
  const double pole = from_next ? -gap : 0;
  const double next = last ? std::numeric_limits<double>::infinity() : pole + gap;
  double low = from_next ? -gap / 2 : 0, high = from_next ? 0 : last ? gap : gap / 2;
  double x = (low + high) / 2;
  for (int step = 0; step < kMaxSteps; ++step) {
    const SecularValue f = evaluate(u, index, origin, x);
    if (std::abs(f.value) <= 4 * kEpsilon * f.size) break;
    (f.value < 0 ? low : high) = x;
    if (high - low <= 2 * kEpsilon * std::max(std::abs(low), std::abs(high))) break;
    const double better = interpolated(f, x, pole, next);
    x = better > low && better < high ? better : (low + high) / 2;
  }
  for (int64_t i = 0; i < n; ++i) differences[i] = (u.poles[i] - origin) - x;
  return origin + x;
}

}  // namespace kaiseki::linalg
