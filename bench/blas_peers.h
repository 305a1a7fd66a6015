// SPDX-License-Identifier: MIT
// Single-precision matrix products of other libraries, each behind one function.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace kaiseki::bench {

struct GemmCase {
  int64_t m, n, k;
  bool trans_a = false, trans_b = false;
  int64_t lda() const { return trans_a ? m : k; }
  int64_t ldb() const { return trans_b ? k : n; }
};

/// C = op(A) op(B), row-major. Empty if the library is not available.
using GemmFn = std::function<void(const float* a, const float* b, float* c)>;

struct BlasPeer {
  std::string name, missing;  // missing: the package that has the library
  std::function<GemmFn(const GemmCase&)> prepare;
};

/// Each function loads its library. Set the environment variables that the library reads before the
/// call.
BlasPeer openblas_peer();
BlasPeer blis_peer();
BlasPeer dnnl_sgemm_peer();
BlasPeer dnnl_matmul_peer();
BlasPeer eigen_peer();

}  // namespace kaiseki::bench
