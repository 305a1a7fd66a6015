// SPDX-License-Identifier: MIT
#include "ml/linear/linear_function.h"

#include <cmath>

#include "matrix/ops/gemm.h"
#include "ml/samples.h"

namespace kaiseki::ml {

Tensor with_contiguous_columns(const Tensor& x) {
  return x.strides()[-1] == 1 && x.strides()[-2] >= x.dim(-1) ? x : x.contiguous();
}

LinearFunction::LinearFunction(const LinearWeights& weights, bool flat, Device device) {
  for (const std::vector<double>* part : {&weights.coefficients, &weights.intercept})
    for (double value : *part)
      if (!std::isfinite(static_cast<float>(value)))
        throw Error(message("linear", "the weights are too large for f32; scale the features"));
  const Shape shape = flat ? Shape{weights.features} : Shape{weights.outputs, weights.features};
  coefficients_ = tensor_from(weights.coefficients, shape, device);
  intercept_ = tensor_from(weights.intercept, {weights.outputs}, device);
}

Tensor LinearFunction::apply(const Tensor& x, std::string_view name) const {
  check_fitted(defined(), name);
  check_samples(x, features(), name);
  const Tensor weights = coefficients_.reshape({-1, features()}).to(x.device());
  const Tensor bias = intercept_.to(x.device());
  Tensor y({x.dim(0), weights.dim(0)}, DType::f32, x.device());
  GemmOptions options;
  options.transpose_b = true;
  options.bias_per_column = &bias;
  gemm(with_contiguous_columns(x), weights, y, options);
  return coefficients_.rank() == 1 ? y.reshape({x.dim(0)}) : y;
}

}  // namespace kaiseki::ml
