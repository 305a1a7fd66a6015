// SPDX-License-Identifier: MIT
#include <array>
#include <cmath>

#include "matrix/linalg/kernels.h"
#include "matrix/linalg/tridiagonal.h"
#include "matrix/threads.h"

namespace kaiseki::linalg {
namespace {

constexpr int64_t kPanel = 32;
constexpr int64_t kApplyBlock = 64;
constexpr int64_t kUpdateRows = 128;
constexpr int64_t kPieces = 4;          // of the rows of a symmetric product
constexpr int64_t kParallelRows = 384;  // a smaller product is faster on one thread

/// y = A x. The pieces have about the same number of elements of the upper triangle.
template <typename T>
void multiply_symmetric(const MatrixView<T>& a, const T* x, T* y) {
  const int64_t n = a.rows;
  const auto multiply_symmetric = kernels<T>().multiply_symmetric;
  std::fill_n(y, n, T(0));
  if (n < kParallelRows) return multiply_symmetric(n, 0, n, a.data, a.ld, x, y);
  const auto start = [&](int64_t piece) {
    const double left = 1 - static_cast<double>(piece) / kPieces;
    return piece == kPieces ? n
                            : static_cast<int64_t>(static_cast<double>(n) * (1 - std::sqrt(left)));
  };
  std::vector<T> sums(static_cast<size_t>((kPieces - 1) * n));
  parallel_for(kPieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      multiply_symmetric(n, start(p), start(p + 1), a.data, a.ld, x,
                         p == 0 ? y : sums.data() + (p - 1) * n);
  });
  for (int64_t p = 1; p < kPieces; ++p)
    for (int64_t i = 0; i < n; ++i) y[i] += sums[(p - 1) * n + i];
}

}  // namespace

template <typename T>
Tridiagonalization<T>::Tridiagonalization(const MatrixView<T>& a) : a_(a) {
  const int64_t n = a.rows;
  matrix_.diagonal.resize(static_cast<size_t>(n));
  matrix_.off.resize(static_cast<size_t>(std::max<int64_t>(0, n - 1)));
  tau_.resize(static_cast<size_t>(n));
  for (int64_t begin = 0; begin < n; begin += kPanel) {
    const int64_t end = std::min(begin + kPanel, n), width = end - begin;
    Dense<T> p(2 * width, n - begin), q(2 * width, n - begin);
    reduce_panel(begin, end, p.view(), q.view());
    // The trailing part -= V^T W + W^T V: p is V above W, q is W above V.
    for (int64_t i = end; i < n; i += kUpdateRows) {
      const int64_t height = std::min(kUpdateRows, n - i);
      multiply(-1, Factor<T>{p.view().block(0, i - begin, 2 * width, height), true},
               Factor<T>{q.view().block(0, i - begin, 2 * width, n - i)}, 1,
               a.block(i, i, height, n - i));
    }
  }
}

template <typename T>
void Tridiagonalization<T>::reduce_panel(int64_t begin, int64_t end, const MatrixView<T>& p,
                                         const MatrixView<T>& q) {
  const Kernels<T>& k = kernels<T>();
  const int64_t n = a_.rows, width = end - begin;
  for (int64_t i = 0; i < width; ++i) {
    const int64_t row = begin + i, length = n - row - 1;
    T* here = a_.row(row) + row;
    for (int64_t j = 0; j < i; ++j) {
      k.add_scaled(length + 1, -p(j, i), q.row(j) + i, here);
      k.add_scaled(length + 1, -q(j, i), p.row(j) + i, here);
    }
    matrix_.diagonal[row] = here[0];
    if (length == 0) return;
    T *v = p.row(i) + i + 1, *w = q.row(i) + i + 1;
    std::copy_n(here + 1, length, v);
    const Reflector<T> h = make_reflector(length, v);
    matrix_.off[row] = h.beta;
    tau_[row] = h.tau;
    std::copy_n(v, length, here + 1);
    multiply_symmetric(a_.block(row + 1, row + 1, length, length), v, w);
    for (int64_t j = 0; j < i; ++j) {
      const T *vj = p.row(j) + i + 1, *wj = q.row(j) + i + 1;
      const T along_w = k.dot(length, wj, v), along_v = k.dot(length, vj, v);
      k.add_scaled(length, -along_w, vj, w);
      k.add_scaled(length, -along_v, wj, w);
    }
    for (int64_t j = 0; j < length; ++j) w[j] *= h.tau;
    k.add_scaled(length, -h.tau / 2 * k.dot(length, w, v), v, w);
    std::copy_n(v, length, q.row(width + i) + i + 1);
    std::copy_n(w, length, p.row(width + i) + i + 1);
  }
}

template <typename T>
void Tridiagonalization<T>::apply(const MatrixView<T>& x) const {
  const int64_t n = a_.rows, count = n - 1;
  if (count <= 0) return;
  for (int64_t begin = (count - 1) / kApplyBlock * kApplyBlock; begin >= 0; begin -= kApplyBlock) {
    const int64_t width = std::min(kApplyBlock, count - begin), length = n - begin - 1;
    Dense<T> v(width, length), factor(width, width);
    for (int64_t i = 0; i < width; ++i)
      std::copy_n(a_.row(begin + i) + begin + i + 1, length - i, v.view().row(i) + i);
    const BlockReflector<T> block{v.view(), factor.view()};
    set_factor(block, tau_.data() + begin);
    apply_block(block, false, x.block(0, begin + 1, x.rows, length));
  }
}

template class Tridiagonalization<float>;
template class Tridiagonalization<double>;

}  // namespace kaiseki::linalg
