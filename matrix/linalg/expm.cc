// SPDX-License-Identifier: MIT
#include "matrix/linalg/expm.h"

#include <cmath>

#include "matrix/linalg/batch.h"
#include "matrix/linalg/factor_lu.h"
#include "matrix/linalg/triangular.h"

namespace kaiseki {
namespace {

using namespace linalg;

// Coefficients of the approximation of degree 13. Up to kLargestNorm it is exact to double
// precision (Higham 2005, tables 2.3 and 3.1).
constexpr double kPade[] = {64764752532480000.0,
                            32382376266240000.0,
                            7771770303897600.0,
                            1187353796428800.0,
                            129060195264000.0,
                            10559470521600.0,
                            670442572800.0,
                            33522128640.0,
                            1323241920.0,
                            40840800.0,
                            960960.0,
                            16380.0,
                            182.0,
                            1.0};
constexpr double kLargestNorm = 5.371920351148152;
// A larger norm overflows anyway.
constexpr int kMaxSquarings = 1100;

double norm_of(const MatrixView<double>& a) {
  std::vector<double> sums(static_cast<size_t>(a.columns));
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) sums[j] += std::abs(a(i, j));
  return *std::max_element(sums.begin(), sums.end());
}

/// to = c6 a6 + c4 a4 + c2 a2 + c0 I.
void combine(const MatrixView<double>* even, const double (&c)[4], const MatrixView<double>& to) {
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t j = 0; j < to.columns; ++j)
      to(i, j) =
          c[3] * even[2](i, j) + c[2] * even[1](i, j) + c[1] * even[0](i, j) + (i == j ? c[0] : 0);
}

void exponential(const MatrixView<double>& a) {
  const int64_t n = a.rows;
  if (n == 0) return;
  int squarings = 0;
  const double norm = norm_of(a);
  if (norm > kLargestNorm)
    squarings = static_cast<int>(
        std::min<double>(kMaxSquarings, std::ceil(std::log2(norm / kLargestNorm))));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) a(i, j) = std::ldexp(a(i, j), -squarings);

  Dense<double> store[] = {{n, n}, {n, n}, {n, n}, {n, n}, {n, n}, {n, n}};
  const MatrixView<double> even[] = {store[0].view(), store[1].view(), store[2].view()};
  const MatrixView<double> inner = store[3].view(), u = store[4].view(), v = store[5].view();
  using Side = Factor<double>;
  multiply(1, Side{a}, Side{a}, 0, even[0]);
  multiply(1, Side{even[0]}, Side{even[0]}, 0, even[1]);
  multiply(1, Side{even[1]}, Side{even[0]}, 0, even[2]);
  // u = a (a6 (b13 a6 + b11 a4 + b9 a2) + b7 a6 + b5 a4 + b3 a2 + b1 I)
  combine(even, {0, kPade[9], kPade[11], kPade[13]}, inner);
  combine(even, {kPade[1], kPade[3], kPade[5], kPade[7]}, v);
  multiply(1, Side{even[2]}, Side{inner}, 1, v);
  multiply(1, Side{a}, Side{v}, 0, u);
  // v = a6 (b12 a6 + b10 a4 + b8 a2) + b6 a6 + b4 a4 + b2 a2 + b0 I
  combine(even, {0, kPade[8], kPade[10], kPade[12]}, inner);
  combine(even, {kPade[0], kPade[2], kPade[4], kPade[6]}, v);
  multiply(1, Side{even[2]}, Side{inner}, 1, v);
  // (v - u) result = v + u
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      a(i, j) = v(i, j) + u(i, j);
      v(i, j) -= u(i, j);
    }
  const LuPivots pivots = factor_lu(v);
  apply_pivots(pivots, a);
  solve_triangular(Triangle<double>{v, false, false, true}, a);
  solve_triangular(Triangle<double>{v, false, true, false}, a);
  for (int i = 0; i < squarings; ++i) {
    copy_matrix_into(u, a);
    multiply(1, Side{u}, Side{u}, 0, a);
  }
}

}  // namespace

Tensor expm(const Tensor& a) {
  const Tensor host = square_matrices(a, "expm");
  Tensor result(host.shape(), host.dtype(), Device::cpu());
  with_type(host, [&](auto zero) {
    using T = decltype(zero);
    const auto from = read_matrices<T>(host);
    const auto to = write_matrices<T>(result);
    for_each_matrix(host, [&](int64_t index) {
      const int64_t n = from.rows;
      Dense<double> copy(n, n);
      for (int64_t i = 0; i < n; ++i) std::copy_n(from[index].row(i), n, copy.view().row(i));
      exponential(copy.view());
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) to[index](i, j) = static_cast<T>(copy.view()(i, j));
    });
  });
  return result.to(a.device());
}

}  // namespace kaiseki
