// SPDX-License-Identifier: MIT
#include "matrix/linalg/qr.h"

#include "matrix/linalg/batch.h"
#include "matrix/linalg/device_factors.h"
#include "matrix/linalg/factor_qr.h"

namespace kaiseki {

using namespace linalg;

QrResult qr(const Tensor& a, FactorSize size) {
  check_matrices(a, "qr");
  const int64_t m = a.dim(-2), n = a.dim(-1);
  const int64_t k = size == FactorSize::full ? m : std::min(m, n);
  if (factors_on_device(a, "qr")) {
    check_finite_on_device(a, "qr");
    const DeviceQr factors = qr_on_device(a, k);
    return {factors.q, factors.r};
  }
  const Tensor host = host_matrices(a, "qr");
  QrResult result{Tensor(batch_shape(host, {m, k}), host.dtype(), Device::cpu()),
                  Tensor(batch_shape(host, {k, n}), host.dtype(), Device::cpu())};
  with_type(host, [&](auto zero) {
    using T = decltype(zero);
    const auto from = read_matrices<T>(host);
    const auto q = write_matrices<T>(result.q), r = write_matrices<T>(result.r);
    for_each_matrix(host, [&](int64_t index) {
      Dense<T> columns(n, m), orthogonal(k, m);
      const MatrixView<T> t = columns.view();
      copy_transposed_into(t, from[index]);
      QrFactors<T> factors(t);
      copy_transposed_into(r[index], t.block(0, 0, n, std::min(m, k)));
      clear_below(r[index]);
      factors.form(orthogonal.view());
      copy_transposed_into(q[index], orthogonal.view());
    });
  });
  return {result.q.to(a.device()), result.r.to(a.device())};
}

}  // namespace kaiseki
