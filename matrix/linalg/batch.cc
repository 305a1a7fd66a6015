// SPDX-License-Identifier: MIT
#include "matrix/linalg/batch.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "matrix/backend/dispatch.h"
#include "matrix/ops/check.h"
#include "matrix/threads.h"

namespace kaiseki::linalg {
namespace {

constexpr int64_t kChecked = 1 << 17;  // elements that one task checks

template <typename T>
bool is_finite(const Tensor& a) {
  const T* const values = a.data<T>();
  std::atomic<bool> finite = true;
  parallel_for(a.size(), kChecked, [&](int64_t begin, int64_t end) {
    if (!all_finite(end - begin, values + begin)) finite = false;
  });
  return finite;
}

}  // namespace

template <typename T>
bool all_finite(int64_t n, const T* values) {
  // 0 * x is NaN for NaN and infinity, so sums find them without a branch. Several sums make one
  // vector.
  constexpr int64_t kSums = 16;
  T sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= n; i += kSums)
    for (int64_t j = 0; j < kSums; ++j) sums[j] += 0 * values[i + j];
  for (; i < n; ++i) sums[0] += 0 * values[i];
  return std::all_of(sums, sums + kSums, [](T sum) { return sum == 0; });
}

template bool all_finite(int64_t, const float*);
template bool all_finite(int64_t, const double*);

void check_matrices(const Tensor& a, std::string_view name) {
  check_real(a, "A", name);
  require(a.rank() >= 2, name, "expected a matrix or a batch of matrices, got ", a.shape());
}

void check_square(const Tensor& a, std::string_view name) {
  check_real(a, "A", name);
  require(a.rank() >= 2 && a.dim(-1) == a.dim(-2), name, "expected square matrices, got ",
          a.shape());
}

LinearAlgebraError not_finite(std::string_view name) {
  return LinearAlgebraError(message(name, "expected finite elements, got NaN or infinity"));
}

Tensor unchecked_matrices(const Tensor& a, std::string_view name) {
  check_matrices(a, name);
  if (!a.device().is_cpu()) count_missing_operation(name, a.device());
  return a.to(Device::cpu()).contiguous();
}

Tensor host_matrices(const Tensor& a, std::string_view name) {
  const Tensor host = unchecked_matrices(a, name);
  with_type(host, [&](auto zero) {
    if (!is_finite<decltype(zero)>(host)) throw not_finite(name);
  });
  return host;
}

Tensor square_matrices(const Tensor& a, std::string_view name) {
  check_square(a, name);
  return host_matrices(a, name);
}

Shape batch_shape(const Tensor& a, std::initializer_list<int64_t> last) {
  Shape shape;
  for (int i = 0; i < a.rank() - 2; ++i) shape.push_back(a.dim(i));
  for (int64_t dim : last) shape.push_back(dim);
  return shape;
}

int64_t batch_count(const Tensor& a) { return batch_shape(a).elements(); }

std::string in_batch(const Tensor& a, int64_t index) {
  return a.rank() == 2 ? "" : " of matrix " + std::to_string(index);
}

void for_each_matrix(const Tensor& a, const std::function<void(int64_t)>& body) {
  const int64_t count = batch_count(a);
  if (count < 2 * thread_count()) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace kaiseki::linalg
