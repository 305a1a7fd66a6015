// SPDX-License-Identifier: MIT
#include "ml/mixture/expectation.h"

#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/statistics.h"
#include "ml/mixture/diagonal_steps.h"
#include "ml/row_blocks.h"

namespace kaiseki::ml {

MixtureSums expectation(const Tensor& x, const Gaussians& model) {
  if (x.device().is_cpu() && !model.has_matrices()) {
    MixtureSums sums = diagonal_expectation(x, model);
    sums.shifts = rounded_to_f32(model.means);
    return sums;
  }
  const GaussiansOnDevice there(model, x.device());
  MixtureSums sums(model);
  sums.shifts = rounded_to_f32(model.means);
  for_each_row_block(x, [&](const Tensor& rows, int64_t) {
    const Tensor log_probabilities = there.log_probabilities(rows);
    const Tensor norms = logsumexp(log_probabilities, {0});
    sums.log_likelihood += static_cast<double>(sum(norms).item());
    sums.add(model, elementwise("exp(p - n)", {{"p", log_probabilities}, {"n", norms}}),
             [&](int64_t k) { return there.differences(rows, k); });
  });
  return sums;
}

}  // namespace kaiseki::ml
