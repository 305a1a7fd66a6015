// SPDX-License-Identifier: MIT
#include "tests/support/loops.h"

#include <algorithm>
#include <cmath>

#include "matrix/ceil_div.h"

namespace kaiseki::test {

namespace {

/// Row i of the results, from column j on. Sums in local variables are faster than in memory.
template <int kColumns>
void multiply_row(const FloatMatrix& a, const FloatMatrix& b, int64_t i, int64_t j, int64_t k,
                  double* sums, double* sizes) {
  double sum[kColumns] = {}, size[kColumns] = {};
  const float *left = a.values + i * a.row, *right = b.values + j * b.column;
  for (int64_t p = 0; p < k; ++p, left += a.column, right += b.row)
    for (int column = 0; column < kColumns; ++column) {
      const double product = double{*left} * right[column * b.column];
      sum[column] += product;
      size[column] += std::abs(product);
    }
  std::copy_n(sum, kColumns, sums);
  std::copy_n(size, kColumns, sizes);
}

}  // namespace

void multiply_loops(const FloatMatrix& a, const FloatMatrix& b, int64_t m, int64_t n, int64_t k,
                    double* sums, double* sizes) {
  constexpr int kColumns = 8;
  for (int64_t i = 0; i < m; ++i) {
    int64_t j = 0;
    for (; j + kColumns <= n; j += kColumns)
      multiply_row<kColumns>(a, b, i, j, k, sums + i * n + j, sizes + i * n + j);
    for (; j < n; ++j) multiply_row<1>(a, b, i, j, k, sums + i * n + j, sizes + i * n + j);
  }
}

void multiply_loops(const double* a, const double* b, int64_t m, int64_t n, int64_t k, double* c) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t p = 0; p < k; ++p) {
      const double factor = a[i * k + p];
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += factor * b[p * n + j];
    }
}

namespace {

/// One row of the output and one tap of the filter. The tap reads column j * stride + shift.
void add_row(const ConvProblem& p, const ConvLoops& at, int64_t row_in, int64_t row_out,
             int64_t tap, int64_t shift) {
  const int64_t stride = p.stride[1];
  const int64_t first = shift < 0 ? ceil_div(-shift, stride) : 0;
  const int64_t last = shift < p.w ? std::min(p.out_w(), ceil_div(p.w - shift, stride)) : 0;
  const double *x = at.x + row_in + shift, *dy = at.dy + row_out;
  double* __restrict y = at.y + row_out;
  double* __restrict y_size = at.y_size + row_out;
  double* __restrict dx = at.dx + row_in + shift;
  double* __restrict dx_size = at.dx_size + row_in + shift;
  const double weight = at.filter[tap];
  double sum = 0, size = 0;
  for (int64_t j = first; j < last; ++j) {
    const double in = x[j * stride];
    y[j] += in * weight;
    y_size[j] += std::abs(in * weight);
    dx[j * stride] += dy[j] * weight;
    dx_size[j * stride] += std::abs(dy[j] * weight);
    sum += in * dy[j];
    size += std::abs(in * dy[j]);
  }
  at.dfilter[tap] += sum;
  at.dfilter_size[tap] += size;
}

}  // namespace

void conv_loops(const ConvProblem& p, const ConvLoops& at) {
  const int64_t group_c = p.c / p.groups, group_k = p.k / p.groups;
  const int64_t out_h = p.out_h(), out_w = p.out_w();
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t k = 0; k < p.k; ++k)
      for (int64_t c = 0; c < group_c; ++c)
        for (int64_t r = 0; r < p.r; ++r)
          for (int64_t s = 0; s < p.s; ++s)
            for (int64_t i = 0; i < out_h; ++i) {
              const int64_t row = i * p.stride[0] - p.padding[0] + r * p.dilation[0];
              if (row < 0 || row >= p.h) continue;
              const int64_t channel = k / group_k * group_c + c;
              add_row(p, at, ((n * p.c + channel) * p.h + row) * p.w,
                      ((n * p.k + k) * out_h + i) * out_w, ((k * group_c + c) * p.r + r) * p.s + s,
                      s * p.dilation[1] - p.padding[1]);
            }
}

}  // namespace kaiseki::test
