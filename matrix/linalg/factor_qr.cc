// SPDX-License-Identifier: MIT
#include "matrix/linalg/factor_qr.h"

#include "matrix/ceil_div.h"
#include "matrix/linalg/kernels.h"

namespace kaiseki::linalg {
namespace {

constexpr int64_t kLeaf = 32;

}  // namespace

template <typename T>
QrFactors<T>::QrFactors(const MatrixView<T>& t)
    : count_(std::min(t.rows, t.columns)),
      m_(t.columns),
      v_(count_, m_),
      factors_(count_, std::min(count_, kBlock)) {
  for (int64_t begin = 0; begin < count_; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, count_);
    factor(t, begin, end, block(begin).factor);
    apply_block(block(begin), true, t.block(end, begin, t.rows - end, m_ - begin));
  }
}

template <typename T>
BlockReflector<T> QrFactors<T>::block(int64_t begin) {
  const int64_t width = std::min(kBlock, count_ - begin);
  return {v_.view().block(begin, begin, width, m_ - begin),
          factors_.view().block(begin, 0, width, width)};
}

template <typename T>
void QrFactors<T>::factor(const MatrixView<T>& t, int64_t begin, int64_t end,
                          const MatrixView<T>& factor) {
  const int64_t width = end - begin;
  if (width <= kLeaf) return leaf(t, begin, end, factor);
  const int64_t half = round_up(width / 2, kLeaf), middle = begin + half;
  const MatrixView<T> first = factor.block(0, 0, half, half);
  const MatrixView<T> second = factor.block(half, half, width - half, width - half);
  this->factor(t, begin, middle, first);
  apply_block(BlockReflector<T>{v_.view().block(begin, begin, half, m_ - begin), first}, true,
              t.block(middle, begin, width - half, m_ - begin));
  this->factor(t, middle, end, second);
  Dense<T> products(half, width - half), scaled(half, width - half);
  multiply(1, Factor<T>{v_.view().block(begin, middle, half, m_ - middle)},
           Factor<T>{v_.view().block(middle, middle, width - half, m_ - middle), true}, 0,
           products.view());
  multiply(-1, Factor<T>{first}, Factor<T>{products.view()}, 0, scaled.view());
  multiply(1, Factor<T>{scaled.view()}, Factor<T>{second}, 0,
           factor.block(0, half, half, width - half));
}

template <typename T>
void QrFactors<T>::leaf(const MatrixView<T>& t, int64_t begin, int64_t end,
                        const MatrixView<T>& factor) {
  const Kernels<T>& k = kernels<T>();
  const MatrixView<T> v = v_.view();
  for (int64_t j = begin; j < end; ++j) {
    const int64_t length = m_ - j;
    std::copy_n(t.row(j) + j, length, v.row(j) + j);
    const Reflector<T> h = make_reflector(length, v.row(j) + j);
    t(j, j) = h.beta;
    for (int64_t c = j + 1; c < end; ++c) {
      const T along = k.dot(length, v.row(j) + j, t.row(c) + j);
      k.add_scaled(length, -h.tau * along, v.row(j) + j, t.row(c) + j);
    }
    factor(j - begin, j - begin) = h.tau;
    T products[kLeaf];
    for (int64_t i = begin; i < j; ++i)
      products[i - begin] = k.dot(length, v.row(i) + j, v.row(j) + j);
    for (int64_t i = 0; i < j - begin; ++i) {
      T sum = 0;
      for (int64_t p = i; p < j - begin; ++p) sum += factor(i, p) * products[p];
      factor(i, j - begin) = -h.tau * sum;
    }
  }
}

template <typename T>
void QrFactors<T>::apply(const MatrixView<T>& x) {
  if (count_ == 0) return;
  for (int64_t begin = (count_ - 1) / kBlock * kBlock; begin >= 0; begin -= kBlock)
    apply_block(block(begin), false, x.block(0, begin, x.rows, m_ - begin));
}

template <typename T>
void QrFactors<T>::form(const MatrixView<T>& q) {
  set_identity(q);
  if (count_ == 0) return;
  // The rows before a block's first column are still rows of the identity there.
  for (int64_t begin = (count_ - 1) / kBlock * kBlock; begin >= 0; begin -= kBlock)
    if (begin < q.rows)
      apply_block(block(begin), false, q.block(begin, begin, q.rows - begin, m_ - begin));
}

template class QrFactors<float>;
template class QrFactors<double>;

}  // namespace kaiseki::linalg
