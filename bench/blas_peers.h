// SPDX-License-Identifier: MIT
// Other libraries' single-precision matrix products, each behind one function.
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

/// C = op(A) op(B), row-major. Empty when the library is not there.
using GemmFn = std::function<void(const float* a, const float* b, float* c)>;

struct BlasPeer {
  std::string name, missing;  // missing: what to install
  std::function<GemmFn(const GemmCase&)> prepare;
};

/// Loaded when called: the environment that they read must be set before.
BlasPeer openblas_peer();
BlasPeer blis_peer();
BlasPeer dnnl_sgemm_peer();
BlasPeer dnnl_matmul_peer();
BlasPeer eigen_peer();

}  // namespace kaiseki::bench
