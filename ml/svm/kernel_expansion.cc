// SPDX-License-Identifier: MIT
#include "ml/svm/kernel_expansion.h"

#include <algorithm>
#include <utility>

#include "ml/row_blocks.h"
#include "ml/samples.h"

namespace kaiseki::ml {

KernelExpansion::KernelExpansion(KernelFunction function, Tensor support_vectors)
    : function_(std::move(function)), support_vectors_(std::move(support_vectors)) {}

void KernelExpansion::check(const Tensor& x, std::string_view name) const {
  check_fitted(defined(), name);
  check_samples(x, support_vectors_.dim(1), name);
}

void KernelExpansion::for_each_block(
    const Tensor& x, const std::function<void(const Tensor& kernels, int64_t begin)>& body) const {
  if (support_vectors_.dim(0) == 0) return;
  const KernelSamples vectors = kernel_samples(function_, support_vectors_.to(x.device()));
  const int64_t step = rows_per_block(std::max(support_vectors_.dim(0), x.dim(1)));
  for (int64_t begin = 0; begin < x.dim(0); begin += step) {
    const Tensor rows = x.slice(0, begin, std::min(step, x.dim(0) - begin));
    body(kernel_block(function_, kernel_samples(function_, rows), vectors), begin);
  }
}

LinearWeights linear_weights(const KernelFunction& function, const Tensor& vectors,
                             const std::vector<std::vector<VectorCoefficient>>& coefficients,
                             const std::vector<double>& intercepts) {
  const int64_t d = vectors.dim(1);
  LinearWeights weights{std::ssize(coefficients), d, {}, intercepts};
  weights.coefficients.resize(static_cast<size_t>(weights.outputs * d));
  const Tensor host = on_host(vectors);
  const float* rows = vectors.dim(0) > 0 ? host.data<float>() : nullptr;
  for (int64_t output = 0; output < weights.outputs; ++output) {
    double* sums = &weights.coefficients[output * d];
    for (const VectorCoefficient& c : coefficients[output])
      for (int64_t j = 0; j < d; ++j)
        sums[j] += c.value * (static_cast<double>(rows[c.row * d + j]) - function.shift[j]);
    for (int64_t j = 0; j < d; ++j) weights.intercept[output] -= sums[j] * function.shift[j];
  }
  return weights;
}

}  // namespace kaiseki::ml
