// SPDX-License-Identifier: MIT
// Products for the tests of GEMM on OpenCL devices, with their expected values.
#pragma once

#include <algorithm>
#include <functional>
#include <string>

#include "matrix/backend/opencl/gemm_choice.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/support/activation.h"
#include "tests/support/reference.h"

namespace kaiseki::opencl {

struct ProductCase {
  int64_t m, n, k, batch;
  bool shared_a, shared_b;  // batch stride 0
};

/// Chooses as the backend does, and measures if necessary.
struct Product {
  GemmArgs args;
  Tensor a, b, c, bias;

  /// `gap`: leading dimensions are longer than the rows.
  Product(const ProductCase& s, bool trans_a, bool trans_b, Device device, int64_t gap = 3) {
    args.trans_a = trans_a;
    args.trans_b = trans_b;
    args.m = s.m;
    args.n = s.n;
    args.k = s.k;
    args.batch = s.batch;
    args.lda = (trans_a ? s.m : s.k) + gap;
    args.ldb = (trans_b ? s.k : s.n) + gap;
    args.ldc = s.n + gap;
    int64_t size_a = args.lda * (trans_a ? s.k : s.m), size_b = args.ldb * (trans_b ? s.n : s.k);
    args.stride_a = s.shared_a ? 0 : size_a;
    args.stride_b = s.shared_b ? 0 : size_b;
    args.stride_c = args.ldc * s.m;
    a = test::random_tensor(Shape{size_a * s.batch}, 1, device);
    b = test::random_tensor(Shape{size_b * s.batch}, 2, device);
    c = test::random_tensor(Shape{args.stride_c * s.batch}, 3, device);
    bias = test::random_tensor(Shape{std::max(s.m, s.n)}, 4, device);
    args.a = &a;
    args.b = &b;
    args.c = &c;
  }

  test::Doubles expected() const {
    test::Doubles left = test::doubles(a), right = test::doubles(b), out = test::doubles(c),
                  shift = test::doubles(bias);
    for (int64_t batch = 0; batch < args.batch; ++batch)
      for (int64_t i = 0; i < args.m; ++i)
        for (int64_t j = 0; j < args.n; ++j) {
          double sum = 0;
          for (int64_t p = 0; p < args.k; ++p)
            sum +=
                left[batch * args.stride_a + (args.trans_a ? p * args.lda + i : i * args.lda + p)] *
                right[batch * args.stride_b + (args.trans_b ? j * args.ldb + p : p * args.ldb + j)];
          double& value = out[batch * args.stride_c + i * args.ldc + j];
          value = args.alpha * sum + args.beta * value;
          if (args.bias_kind != GemmArgs::Bias::none)
            value += shift[args.bias_kind == GemmArgs::Bias::per_row ? i : j];
          value = test::activate(value, args.activation, args.slope);
        }
    return out;
  }
};

/// For products of k numbers below 1: 1e-7 for each addition, and the epilogue.
inline double bound(const GemmArgs& args) { return 1e-6 + 1e-7 * static_cast<double>(args.k); }

inline void for_each_candidate(OpenclBackend& backend,
                               const std::function<void(const GemmCandidate&)>& body) {
  for (Style style : {Style::cpu, Style::gpu}) {
    test::WithStyle with(backend.opencl(), style);
    for (auto& candidate : gemm_candidates(style)) {
      if (candidate.name.starts_with("few ")) continue;  // gemm_thin_test.cc tests them
      INFO(std::string(candidate.name));
      body(candidate);
    }
  }
}

/// All tiles share one source, so the larger ones run fewer cases. Each takes seconds to compile.
}  // namespace kaiseki::opencl
