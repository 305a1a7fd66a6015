// SPDX-License-Identifier: MIT
#include "ml/mixture/expectation.h"

#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/statistics.h"
#include "ml/mixture/diagonal_steps.h"
#include "ml/row_blocks.h"

namespace kaiseki::ml {

MixtureSums expectation(const Tensor& x, const Gaussians& model, MixtureProducts products) {
  if (x.device().is_cpu() && !model.has_matrices()) {
    MixtureSums sums = diagonal_expectation(x, model);
    sums.shifts = rounded_to_f32(model.means);
    return sums;
  }
  const GaussiansOnDevice there(model, x.device());
  MixtureSummer summer(model, x.device(), products);
  std::vector<Tensor> likelihoods;  // of blocks
  for_each_row_block(x, [&](const Tensor& rows, int64_t) {
    const Tensor log_probabilities = there.log_probabilities(rows);
    const Tensor norms = logsumexp(log_probabilities, {0});
    likelihoods.push_back(sum(norms, {0}, true));
    summer.add(elementwise("exp(p - n)", {{"p", log_probabilities}, {"n", norms}}),
               [&](int64_t k) { return there.differences(rows, k); });
  });
  MixtureSums sums = summer.take();
  sums.shifts = rounded_to_f32(model.means);
  for (const float value : concatenate(likelihoods, 0).to_vector())
    sums.log_likelihood += static_cast<double>(value);
  return sums;
}

}  // namespace kaiseki::ml
