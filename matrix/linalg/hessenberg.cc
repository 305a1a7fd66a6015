// SPDX-License-Identifier: MIT
#include "matrix/linalg/hessenberg.h"

#include "matrix/linalg/kernels.h"
#include "matrix/threads.h"

namespace kaiseki::linalg {
namespace {

constexpr int64_t kPanel = 32;
constexpr int64_t kRows = 128;  // of a product with a vector, for one task

/// The reflectors begin..end. v and y have one row for each: y is A V factor, transposed.
template <typename T>
class HessenbergPanel {
 public:
  HessenbergPanel(const MatrixView<T>& a, const MatrixView<T>& v, T* tau, int64_t begin)
      : a_(a), v_(v), tau_(tau), begin_(begin), y_(v.rows, a.rows), factor_(v.rows, v.rows) {}

  void reduce() {
    const Kernels<T>& k = kernels<T>();
    const int64_t n = a_.rows;
    std::vector<T> column(static_cast<size_t>(n)), along(static_cast<size_t>(v_.rows));
    const MatrixView<T> y = y_.view(), factor = factor_.view();
    for (int64_t j = 0; j < v_.rows; ++j) {
      const int64_t at = begin_ + j;
      T* b = column.data();
      for (int64_t i = 0; i < n; ++i) b[i] = a_(i, at);
      for (int64_t p = 0; p < j; ++p) k.add_scaled(n, -v_(p, at), y.row(p), b);
      for (int64_t p = 0; p < j; ++p) along[p] = k.dot(n, v_.row(p), b);
      for (int64_t p = 0; p < j; ++p) {
        T sum = 0;
        for (int64_t q = 0; q <= p; ++q) sum += factor(q, p) * along[q];
        k.add_scaled(n, -sum, v_.row(p), b);
      }
      const int64_t length = n - at - 1;
      std::copy_n(b + at + 1, length, v_.row(j) + at + 1);
      const Reflector<T> h = make_reflector(length, v_.row(j) + at + 1);
      tau_[j] = h.tau;
      for (int64_t i = 0; i < n; ++i) a_(i, at) = i <= at ? b[i] : i == at + 1 ? h.beta : 0;
      multiply_vector(at + 1, v_.row(j), y.row(j));
      for (int64_t p = 0; p < j; ++p) {
        along[p] = k.dot(n, v_.row(p), v_.row(j));
        k.add_scaled(n, -along[p], y.row(p), y.row(j));
      }
      for (int64_t i = 0; i < n; ++i) y(j, i) *= h.tau;
      factor(j, j) = h.tau;
      for (int64_t i = 0; i < j; ++i) {
        T sum = 0;
        for (int64_t p = i; p < j; ++p) sum += factor(i, p) * along[p];
        factor(i, j) = -h.tau * sum;
      }
    }
  }

  /// The columns after the panel = (I - V factor^T V^T) (A - Y V^T).
  void update() {
    const int64_t n = a_.rows, end = begin_ + v_.rows, width = n - end;
    multiply(-1, Factor<T>{y_.view(), true}, Factor<T>{v_.block(0, end, v_.rows, width)}, 1,
             a_.block(0, end, n, width));
    const MatrixView<T> below = a_.block(begin_ + 1, end, n - begin_ - 1, width);
    const MatrixView<T> v = v_.block(0, begin_ + 1, v_.rows, below.rows);
    Dense<T> products(v_.rows, width), scaled(v_.rows, width);
    multiply(1, Factor<T>{v}, Factor<T>{below}, 0, products.view());
    multiply(1, Factor<T>{factor_.view(), true}, Factor<T>{products.view()}, 0, scaled.view());
    multiply(-1, Factor<T>{v, true}, Factor<T>{scaled.view()}, 1, below);
  }

 private:
  /// y = A v, where v is 0 before `first`.
  void multiply_vector(int64_t first, const T* v, T* y) const {
    const int64_t length = a_.rows - first;
    parallel_for(a_.rows, kRows, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        y[i] = kernels<T>().dot(length, a_.row(i) + first, v + first);
    });
  }

  MatrixView<T> a_, v_;
  T* tau_;
  int64_t begin_;
  Dense<T> y_, factor_;
};

}  // namespace

template <typename T>
void reduce_to_hessenberg(const MatrixView<T>& a, const MatrixView<T>& qt) {
  const int64_t n = a.rows, count = std::max<int64_t>(0, n - 2);
  Dense<T> vectors(count, n);
  std::vector<T> tau(static_cast<size_t>(count));
  for (int64_t begin = 0; begin < count; begin += kPanel) {
    const int64_t width = std::min(kPanel, count - begin);
    HessenbergPanel<T> panel(a, vectors.view().block(begin, 0, width, n), tau.data() + begin,
                             begin);
    panel.reduce();
    panel.update();
  }
  set_identity(qt);
  if (count == 0) return;
  for (int64_t begin = (count - 1) / kPanel * kPanel; begin >= 0; begin -= kPanel) {
    const int64_t width = std::min(kPanel, count - begin), first = begin + 1;
    Dense<T> factor(width, width);
    const BlockReflector<T> block{vectors.view().block(begin, first, width, n - first),
                                  factor.view()};
    set_factor(block, tau.data() + begin);
    apply_block(block, false, qt.block(first, first, n - first, n - first));
  }
}

template void reduce_to_hessenberg(const MatrixView<float>&, const MatrixView<float>&);
template void reduce_to_hessenberg(const MatrixView<double>&, const MatrixView<double>&);

}  // namespace kaiseki::linalg
