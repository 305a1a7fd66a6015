// SPDX-License-Identifier: MIT
// Loops over contiguous floats for reductions, softmax and normalization, in Highway.
#pragma once

#include <cstddef>

namespace kaiseki::cpu {

/// Sums are computed in pieces of 2048 values. A piece is summed in float with at least 4
/// accumulators of 4 lanes. At most 128 additions follow each other. In sums of exp, whose values
/// are positive, at most 512 additions follow each other. The pieces are added in double.
double sum(const float* x, size_t n);
double sum_of_squares(const float* x, size_t n);
/// The sum of (x[i] - center)^2.
double squared_deviation(const float* x, float center, size_t n);
/// The sum of a[i] * b[i].
double dot(const float* a, const float* b, size_t n);
/// The sum of a[i] * (b[i] - center).
double dot_centered(const float* a, const float* b, float center, size_t n);

/// If any value is NaN, the result is NaN. For n = 0: -infinity and +infinity.
float maximum(const float* x, size_t n);
float minimum(const float* x, size_t n);

/// total[i] = total[i] + x[i], total[i] + x[i]^2, or the maximum or minimum of both. NaN
/// propagates.
void add_to(float* total, const float* x, size_t n);
void add_squares_to(float* total, const float* x, size_t n);
void maximum_to(float* total, const float* x, size_t n);
void minimum_to(float* total, const float* x, size_t n);

/// y[i] = a * x[i] + b.
void affine(const float* x, float a, float b, float* y, size_t n);
/// y[i] = max((x[i] - center) * scale + shift, low). NaN propagates.
void normalize(const float* x, float center, float scale, float shift, float low, float* y,
               size_t n);
/// dx[i] = a * dy[i] + b * (x[i] - center) + shift.
void normalize_backward(const float* dy, const float* x, float center, float a, float b,
                        float shift, float* dx, size_t n);

/// y[i] = exp(x[i] - shift). Returns the sum of y.
double exp_shifted(const float* x, float shift, float* y, size_t n);
/// The sum of exp(x[i] - shift).
double sum_exp_shifted(const float* x, float shift, size_t n);
/// y[i] = g[i] - exp(x[i]) * scale.
void subtract_scaled_exp(const float* g, const float* x, float scale, float* y, size_t n);
/// y[i] = a[i] * (b[i] - center).
void multiply_centered(const float* a, const float* b, float center, float* y, size_t n);

/// y[i] = x[i] * d[i]^-power.
void divide_by_power(const float* x, const float* d, float power, float* y, size_t n);
/// y[i] = the sum over `rows` of x[row * stride + i].
void sum_rows(const float* x, size_t rows, size_t stride, float* y, size_t n);
/// y[i] = k + scale * (the sum over `rows` of x[row * stride + i]^2).
void sum_squared_rows(const float* x, size_t rows, size_t stride, float scale, float k, float* y,
                      size_t n);
/// y[i] = a[i] * b[i] / d[i].
void product_quotient(const float* a, const float* b, const float* d, float* y, size_t n);
/// y[i] = a[i] + factor * b[i] * c[i].
void add_scaled_product(const float* a, const float* b, const float* c, float factor, float* y,
                        size_t n);

}  // namespace kaiseki::cpu
