// SPDX-License-Identifier: MIT
// Loops over contiguous floats that reductions, softmax and normalisation share, in Highway.
#pragma once

#include <cstddef>

namespace kaiseki::cpu {

/// Sums are taken in pieces of 2048 values: a piece in float over at least 4 accumulators of 4
/// lanes (at most 128 additions in a row; 512 of positive values in sums of exp), the pieces in
/// double.
double sum(const float* x, size_t n);
double sum_of_squares(const float* x, size_t n);
/// Of (x[i] - centre)^2.
double squared_deviation(const float* x, float centre, size_t n);
/// The sum of a[i] * b[i].
double dot(const float* a, const float* b, size_t n);
/// The sum of a[i] * (b[i] - centre).
double dot_centred(const float* a, const float* b, float centre, size_t n);

/// A NaN wins; -infinity and +infinity of nothing.
float maximum(const float* x, size_t n);
float minimum(const float* x, size_t n);

/// total[i] = total[i] + x[i], + x[i]^2, or the larger or smaller of both (a NaN wins).
void add_to(float* total, const float* x, size_t n);
void add_squares_to(float* total, const float* x, size_t n);
void maximum_to(float* total, const float* x, size_t n);
void minimum_to(float* total, const float* x, size_t n);

/// y[i] = a * x[i] + b.
void affine(const float* x, float a, float b, float* y, size_t n);
/// y[i] = (x[i] - centre) * scale + shift, but not below `low`; a NaN stays.
void normalise(const float* x, float centre, float scale, float shift, float low, float* y,
               size_t n);
/// dx[i] = a * dy[i] + b * (x[i] - centre) + shift.
void normalise_backward(const float* dy, const float* x, float centre, float a, float b,
                        float shift, float* dx, size_t n);

/// y[i] = exp(x[i] - shift); the sum of them.
double exp_shifted(const float* x, float shift, float* y, size_t n);
/// The sum of exp(x[i] - shift).
double sum_exp_shifted(const float* x, float shift, size_t n);
/// y[i] = g[i] - exp(x[i]) * scale.
void subtract_scaled_exp(const float* g, const float* x, float scale, float* y, size_t n);
/// y[i] = a[i] * (b[i] - centre).
void multiply_centred(const float* a, const float* b, float centre, float* y, size_t n);

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
