// SPDX-License-Identifier: MIT
// Linear algebra (matrix/linalg/). Matrices are the last two axes, and f32 or f64.
#include "matrix/linalg/cholesky.h"
#include "matrix/linalg/eig.h"
#include "matrix/linalg/eigh.h"
#include "matrix/linalg/expm.h"
#include "matrix/linalg/kron.h"
#include "matrix/linalg/least_squares.h"
#include "matrix/linalg/lu.h"
#include "matrix/linalg/matrix_norm.h"
#include "matrix/linalg/qr.h"
#include "matrix/linalg/solve.h"
#include "matrix/linalg/svd.h"
#include "wasm/bindings/arrays/operation.h"

namespace kaiseki::wasm {

template <>
inline constexpr std::array<std::string_view, 2> kNames<FactorSize>{"thin", "full"};
template <>
inline constexpr std::array<std::string_view, 5> kNames<MatrixNorm>{"frobenius", "one", "infinity",
                                                                    "two", "nuclear"};

template <>
inline constexpr std::tuple kMembers<LuResult>{Member{"permutation", &LuResult::permutation},
                                               Member{"l", &LuResult::l},
                                               Member{"u", &LuResult::u}};
template <>
inline constexpr std::tuple kMembers<SlogdetResult>{Member{"sign", &SlogdetResult::sign},
                                                    Member{"log", &SlogdetResult::log}};
template <>
inline constexpr std::tuple kMembers<QrResult>{Member{"q", &QrResult::q},
                                               Member{"r", &QrResult::r}};
template <>
inline constexpr std::tuple kMembers<EighResult>{Member{"values", &EighResult::values},
                                                 Member{"vectors", &EighResult::vectors}};
template <>
inline constexpr std::tuple kMembers<ComplexPair>{Member{"real", &ComplexPair::real},
                                                  Member{"imaginary", &ComplexPair::imaginary}};
template <>
inline constexpr std::tuple kMembers<EigResult>{Member{"values", &EigResult::values},
                                                Member{"vectors", &EigResult::vectors}};
template <>
inline constexpr std::tuple kMembers<SvdResult>{
    Member{"u", &SvdResult::u}, Member{"s", &SvdResult::s}, Member{"vt", &SvdResult::vt}};
template <>
inline constexpr std::tuple kMembers<LstsqResult>{
    Member{"x", &LstsqResult::x}, Member{"rank", &LstsqResult::rank}, Member{"s", &LstsqResult::s}};

void add_linalg_operations(OperationGroup&& table) {
  table.add("solve(a, b)", "The x with a x = b.", solve);
  table.add("inv(a)", "The inverse.", inv);
  table.add("lu(a)", "Row i of l u is row permutation[i] of a.", lu);
  table.add("det(a)", "The determinant.", det);
  table.add("slogdet(a)", "The sign of the determinant, and the logarithm of its magnitude.",
            slogdet);
  table.add("cholesky(a)", "The lower triangular l with a = l l^T.", cholesky);
  table.add("qr(a, size = \"thin\")", "a = q r, with orthonormal columns of q.", qr);
  table.add("eigh(a)", "Eigenvalues of a symmetric matrix, ascending, and their vectors.", eigh);
  table.add("eigvalsh(a)", "Only the eigenvalues of eigh().", eigvalsh);
  table.add("eig(a)", "Eigenvalues of a square matrix, and their vectors.", eig);
  table.add("svd(a, size = \"thin\")", "a = u diag(s) vt, s descending.", svd);
  table.add("truncated_svd(a, rank)", "The largest singular values and their vectors.",
            truncated_svd);
  table.add(
      "randomized_svd(a, rank, oversampling = 10, power_iterations = 2, seed = 0)",
      "An approximation of truncated_svd() that is faster for a small rank.",
      [](const Tensor& a, int64_t rank, int64_t oversampling, int power_iterations, int64_t seed) {
        return randomized_svd(a, rank,
                              {oversampling, power_iterations, static_cast<uint64_t>(seed)});
      });
  table.add("lstsq(a, b, cutoff = null)",
            "The x of least norm that minimizes the norm of a x - b, the rank, singular values.",
            lstsq);
  table.add("pinv(a, cutoff = null)", "The pseudoinverse.", pinv);
  table.add("matrix_rank(a, cutoff = null)", "The number of singular values above the cutoff.",
            matrix_rank);
  table.add("matrix_norm(a, kind = \"frobenius\")", "The norm with this name.", matrix_norm);
  table.add("trace(a)", "The sum of the diagonal.", trace);
  table.add("expm(a)", "The matrix exponential.", expm);
  table.add("kron(a, b)", "The Kronecker product.", kron);
}

}  // namespace kaiseki::wasm
