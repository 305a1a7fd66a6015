// SPDX-License-Identifier: MIT
#include "ml/metrics/regression.h"

#include <limits>
#include <vector>

#include "matrix/ops/check.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

struct SquareSums {
  double error = 0;       // of truth - predicted
  double around_mean = 0;  // of truth - mean
};

/// The sums of each output.
std::vector<SquareSums> square_sums(const Tensor& truth, const Tensor& predicted,
                                    std::string_view name) {
  check_tensor(truth, "the truth", name);
  check_tensor(predicted, "predictions", name);
  require((truth.rank() == 1 || truth.rank() == 2) && truth.size() > 0, name,
          "expected a truth of shape [n] or [n, outputs] with n > 0, got ", truth.shape());
  require(predicted.shape() == truth.shape(), name, "expected predictions of shape ",
          truth.shape(), ", got ", predicted.shape());
  check_finite(truth, "the truth", name);
  check_finite(predicted, "predictions", name);
  const Tensor a = on_host(truth), b = on_host(predicted);
  const int64_t n = a.dim(0), outputs = a.size() / n;
  const float *y = a.data<float>(), *p = b.data<float>();
  std::vector<SquareSums> sums(static_cast<size_t>(outputs));
  for (int64_t j = 0; j < outputs; ++j) {
    double total = 0;
    for (int64_t i = 0; i < n; ++i) total += y[i * outputs + j];
    const double mean = total / static_cast<double>(n);
    SquareSums& s = sums[static_cast<size_t>(j)];
    for (int64_t i = 0; i < n; ++i) {
      const double truth_value = y[i * outputs + j], error = truth_value - p[i * outputs + j];
      s.error += error * error;
      s.around_mean += (truth_value - mean) * (truth_value - mean);
    }
  }
  return sums;
}

}  // namespace

double r2_score(const Tensor& truth, const Tensor& predicted, OutputAverage average) {
  const std::vector<SquareSums> sums = square_sums(truth, predicted, "r2_score");
  if (truth.dim(0) < 2) return std::numeric_limits<double>::quiet_NaN();
  double total = 0, weights = 0;
  for (const SquareSums& s : sums) {
    double score = 1;
    if (s.error != 0) score = s.around_mean == 0 ? 0 : 1 - s.error / s.around_mean;
    const double weight = average == OutputAverage::uniform ? 1 : s.around_mean;
    total += weight * score;
    weights += weight;
  }
  if (weights == 0) return sums.front().error == 0 ? 1 : 0;
  return total / weights;
}

double mean_squared_error(const Tensor& truth, const Tensor& predicted) {
  double total = 0;
  for (const SquareSums& s : square_sums(truth, predicted, "mean_squared_error")) total += s.error;
  return total / static_cast<double>(truth.size());
}

}  // namespace kaiseki::ml
