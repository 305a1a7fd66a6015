// SPDX-License-Identifier: MIT
// The public functions share this: checks, batches of matrices in host memory, and both types. A
// batch is a tensor [..., rows, columns].
#pragma once

#include <functional>
#include <string_view>

#include "matrix/linalg/error.h"
#include "matrix/linalg/matrix_view.h"
#include "matrix/tensor.h"

namespace kaiseki::linalg {

/// Requires f32 or f64 and a rank of 2 or more.
void check_matrices(const Tensor& a, std::string_view name);
/// The same, and requires square matrices.
void check_square(const Tensor& a, std::string_view name);
LinearAlgebraError not_finite(std::string_view name);
template <typename T>
bool all_finite(int64_t n, const T* values);
/// check_matrices(). Returns the matrices contiguous and on the CPU. If they are on another device,
/// that is counted as a fallback.
Tensor unchecked_matrices(const Tensor& a, std::string_view name);
/// The same, and requires that no element is NaN or infinite.
Tensor host_matrices(const Tensor& a, std::string_view name);
/// The same, and requires square matrices.
Tensor square_matrices(const Tensor& a, std::string_view name);

/// The dimensions before the last two, followed by `last`.
Shape batch_shape(const Tensor& a, std::initializer_list<int64_t> last = {});
int64_t batch_count(const Tensor& a);
/// Returns " of matrix i" for a batch, "" for one matrix.
std::string in_batch(const Tensor& a, int64_t index);

/// Calls body(i) for each matrix of the batch. Many matrices are distributed over the threads.
void for_each_matrix(const Tensor& a, const std::function<void(int64_t)>& body);

/// Calls body with a float or a double, the type of a.
template <typename Body>
void with_type(const Tensor& a, const Body& body) {
  if (a.dtype() == DType::f64)
    body(double{});
  else
    body(float{});
}

/// The matrices of a contiguous tensor on the CPU.
template <typename T>
struct MatrixBatch {
  T* data;
  int64_t rows, columns;
  MatrixView<T> operator[](int64_t i) const {
    return {data + i * rows * columns, rows, columns, columns};
  }
};
template <typename T>
MatrixBatch<const T> read_matrices(const Tensor& a) {
  return {a.data<T>(), a.dim(-2), a.dim(-1)};
}
template <typename T>
MatrixBatch<T> write_matrices(Tensor& a) {
  return {a.overwrite<T>(), a.dim(-2), a.dim(-1)};
}

template <typename T>
void copy_matrix_into(const MatrixView<T>& to, const MatrixView<const T>& from) {
  for (int64_t i = 0; i < from.rows; ++i) std::copy_n(from.row(i), from.columns, to.row(i));
}
template <typename T>
void copy_transposed_into(const MatrixView<T>& to, const MatrixView<const T>& from) {
  kernels<T>().transpose(from.rows, from.columns, from.data, from.ld, to.data, to.ld);
}

}  // namespace kaiseki::linalg
