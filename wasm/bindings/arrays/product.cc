// SPDX-License-Identifier: MIT
// Products of matrices and tensors, and convolutions of signals (matrix/ops/gemm.h, einsum.h,
// convolve.h).
#include "matrix/ops/convolve.h"
#include "matrix/ops/einsum.h"
#include "matrix/ops/gemm.h"
#include "wasm/bindings/arrays/names.h"
#include "wasm/bindings/arrays/operation.h"

namespace kaiseki::wasm {

template <>
inline constexpr std::array<std::string_view, 3> kNames<ConvolveMode>{"full", "same", "valid"};

namespace {

using AxisCount = std::variant<int, std::vector<int>>;

Tensor tensordot_over(const Tensor& a, const Tensor& b, const AxisCount& axes,
                      const std::optional<std::vector<int>>& axes_b) {
  if (const int* count = std::get_if<int>(&axes)) {
    if (axes_b) throw Error(message("tensordot", "expected a list as axes, got a number"));
    return tensordot(a, b, *count);
  }
  if (!axes_b) throw Error(message("tensordot", "expected a list as axes_b, got null"));
  return tensordot(a, b, std::get<1>(axes), *axes_b);
}

void gemm_into(const Tensor& a, const Tensor& b, Tensor& c, bool transpose_a, bool transpose_b,
               float alpha, float beta, const Tensor* bias_per_row, const Tensor* bias_per_column,
               Activation activation, float slope) {
  gemm(a, b, c,
       {transpose_a, transpose_b, alpha, beta, bias_per_row, bias_per_column, activation, slope});
}

}  // namespace

void add_product_operations(OperationGroup&& table) {
  table.add("matmul(a, b, transpose_a = false, transpose_b = false)",
            "The matrix product. Axes before the last two are a batch, and broadcast.", matmul);
  table.add(
      "gemm(a, b, c, transpose_a = false, transpose_b = false, alpha = 1, beta = 0, "
      "bias_per_row = null, bias_per_column = null, activation = \"none\", slope = 0.01)",
      "c = activation(alpha * a b + beta * c + bias).", gemm_into);
  table.add("einsum(expression, tensors)",
            "Einstein's summation: einsum(\"...ij,jk->...ik\", [a, b]).", einsum);
  table.add("tensordot(a, b, axes = 2, axes_b = null)",
            "Sums products over the last axes of a and the first of b, or over lists of axes.",
            tensordot_over);
  table.add("convolve(a, b, mode = \"full\")", "The convolution of signals or pictures.", convolve);
  table.add("correlate(a, b, mode = \"full\")", "The correlation of signals or pictures.",
            correlate);
}

}  // namespace kaiseki::wasm
