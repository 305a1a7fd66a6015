// SPDX-License-Identifier: MIT
// Convolution and its gradients by plain loops in double: the reference for solvers.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "matrix/conv/solver.h"
#include "matrix/tensor.h"
#include "tests/support/reference.h"

namespace kaiseki::test {

/// The results for one problem. For each result also the sum of absolute products, which bounds the
/// error of a float result.
struct ConvReference {
  Doubles y, dx, dfilter, y_size, dx_size, dfilter_size;
};

inline ConvReference conv_reference(const ConvProblem& p, const Doubles& x, const Doubles& filter,
                                    const Doubles& dy) {
  ConvReference out;
  out.y = out.y_size = Doubles(static_cast<size_t>(p.n * p.k * p.out_h() * p.out_w()));
  out.dx = out.dx_size = Doubles(x.size());
  out.dfilter = out.dfilter_size = Doubles(filter.size());
  const int64_t group_c = p.c / p.groups, group_k = p.k / p.groups;
  // One row of the output and one tap of the filter.
  const auto add_row = [&](int64_t row_in, int64_t row_out, int64_t tap, int64_t shift) {
    const double weight = filter[static_cast<size_t>(tap)];
    double sum = 0, size = 0;
    for (int64_t j = 0; j < p.out_w(); ++j) {
      const int64_t column = j * p.stride[1] + shift;
      if (column < 0 || column >= p.w) continue;
      const auto in = static_cast<size_t>(row_in + column), at = static_cast<size_t>(row_out + j);
      out.y[at] += x[in] * weight;
      out.y_size[at] += std::abs(x[in] * weight);
      out.dx[in] += dy[at] * weight;
      out.dx_size[in] += std::abs(dy[at] * weight);
      sum += x[in] * dy[at];
      size += std::abs(x[in] * dy[at]);
    }
    out.dfilter[static_cast<size_t>(tap)] += sum;
    out.dfilter_size[static_cast<size_t>(tap)] += size;
  };
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t k = 0; k < p.k; ++k)
      for (int64_t c = 0; c < group_c; ++c)
        for (int64_t r = 0; r < p.r; ++r)
          for (int64_t s = 0; s < p.s; ++s)
            for (int64_t i = 0; i < p.out_h(); ++i) {
              const int64_t row = i * p.stride[0] - p.padding[0] + r * p.dilation[0];
              if (row < 0 || row >= p.h) continue;
              const int64_t channel = k / group_k * group_c + c;
              add_row(((n * p.c + channel) * p.h + row) * p.w,
                      ((n * p.k + k) * p.out_h() + i) * p.out_w(),
                      ((k * group_c + c) * p.r + r) * p.s + s, s * p.dilation[1] - p.padding[1]);
            }
  return out;
}

/// A workspace filled with NaN, so that a read of unwritten values shows. Returns an undefined
/// tensor for 0 bytes.
inline Tensor nan_workspace(uint64_t bytes, Device device) {
  if (bytes == 0) return {};
  const auto floats = static_cast<int64_t>((bytes + sizeof(float) - 1) / sizeof(float));
  return Tensor::full({floats}, NAN, device).reinterpret(DType::u8);
}

/// A float sum in any order has an error below (number of terms) * epsilon * (sum of absolute
/// products). Measured errors are about the square root of that. 64 epsilon and one rounding of the
/// result are therefore ample. A solver that mixes neighboring sums, like Winograd's, has the error
/// that the largest sum allows.
inline void check_sums(const Tensor& actual, const Doubles& expected, const Doubles& size,
                       bool mixed = false) {
  const Doubles values = doubles(actual);
  REQUIRE(values.size() == expected.size());
  const double largest = size.empty() ? 0 : *std::max_element(size.begin(), size.end());
  for (size_t i = 0; i < values.size(); ++i) {
    const double allowed = 1.2e-7 * (64 * (mixed ? largest : size[i]) + std::abs(expected[i]));
    if (std::abs(values[i] - expected[i]) <= allowed) continue;
    INFO("element " << i << ": " << values[i] << ", expected " << expected[i] << " within "
                    << allowed);
    FAIL_CHECK("values differ");
    return;
  }
}

}  // namespace kaiseki::test
