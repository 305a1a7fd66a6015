// SPDX-License-Identifier: MIT
#include "matrix/linalg/eigh.h"

#include "matrix/linalg/batch.h"
#include "matrix/linalg/symmetric_eigen.h"

namespace kaiseki {
namespace {

using namespace linalg;

/// Leaves the vectors undefined unless they are wanted.
EighResult decompose(const Tensor& a, bool with_vectors, std::string_view name) {
  const Tensor host = square_matrices(a, name);
  const int64_t n = host.dim(-1);
  EighResult result{Tensor(batch_shape(host, {n}), host.dtype(), Device::cpu()), Tensor()};
  if (with_vectors) result.vectors = Tensor(host.shape(), host.dtype(), Device::cpu());
  with_type(host, [&](auto zero) {
    using T = decltype(zero);
    const auto from = read_matrices<T>(host);
    T* values = result.values.overwrite<T>();
    MatrixBatch<T> vectors{nullptr, 0, 0};
    if (with_vectors) vectors = write_matrices<T>(result.vectors);
    for_each_matrix(host, [&](int64_t index) {
      Dense<T> copy(n, n), rows(with_vectors ? n : 0, n);
      copy_transposed_into(copy.view(), from[index]);
      std::vector<double> found;
      if (!symmetric_eigen(copy.view(), found, rows.view()))
        throw LinearAlgebraError(
            message(name, "the iteration does not converge", in_batch(host, index)));
      for (int64_t i = 0; i < n; ++i) values[index * n + i] = static_cast<T>(found[i]);
      if (with_vectors) copy_transposed_into(vectors[index], rows.view());
    });
  });
  result.values = result.values.to(a.device());
  if (with_vectors) result.vectors = result.vectors.to(a.device());
  return result;
}

}  // namespace

EighResult eigh(const Tensor& a) { return decompose(a, true, "eigh"); }

Tensor eigvalsh(const Tensor& a) { return decompose(a, false, "eigvalsh").values; }

}  // namespace kaiseki
