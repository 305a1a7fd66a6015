// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/gemm_thin.h"

#include <doctest/doctest.h>

#include "matrix/backend/opencl/gemm_kernels.h"
#include "matrix/ops/gemm.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/support/reference.h"

namespace kaiseki::opencl {
namespace {

using test::Doubles;
using test::random_tensor;

/// alpha * op(A) op(B) + beta * C + bias, in double.
Doubles expected(const GemmArgs& args) {
  const Doubles a = test::doubles(*args.a), b = test::doubles(*args.b);
  Doubles c = test::doubles(*args.c), bias;
  if (args.bias) bias = test::doubles(*args.bias);
  for (int64_t i = 0; i < args.m; ++i)
    for (int64_t j = 0; j < args.n; ++j) {
      double sum = 0;
      for (int64_t t = 0; t < args.k; ++t)
        sum += (args.trans_a ? a[t * args.lda + i] : a[i * args.lda + t]) *
               (args.trans_b ? b[j * args.ldb + t] : b[t * args.ldb + j]);
      double& value = c[i * args.ldc + j];
      value = args.alpha * sum + args.beta * value + (args.bias ? bias[j] : 0);
    }
  return c;
}

}  // namespace

TEST_CASE("opencl gemm: few columns, on odd sizes") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  const Device device = Device::opencl(0);
  for (const int64_t m : {16, 17, 131})
    for (const int64_t n : {1, 2, 3, 10, 12})
      for (const int64_t k : {1, 20, 63, 64, 67, 401})
        for (const float beta : {0.0f, 0.25f}) {
          CAPTURE(m);
          CAPTURE(n);
          CAPTURE(k);
          const Tensor a = random_tensor({m, k}, 1, device), b = random_tensor({n, k}, 2, device);
          const Tensor bias = random_tensor({n}, 3, device);
          Tensor c = random_tensor({m, n}, 4, device);
          GemmArgs args{.trans_b = true, .m = m, .n = n, .k = k, .alpha = 0.5f, .beta = beta};
          args.a = &a, args.b = &b, args.c = &c;
          args.lda = args.ldb = k, args.ldc = n;
          if (beta == 0) args.bias = &bias, args.bias_kind = GemmArgs::Bias::per_column;
          REQUIRE(has_few_columns(backend->opencl(), args));
          const Doubles reference = expected(args);
          gemm_few_columns(backend->opencl(), args);
          // 1e-7 for each addition of products below 1.
          test::check_close(c, reference, 0, 1e-6 + 1e-7 * static_cast<double>(k));
        }
}

TEST_CASE("opencl gemm: few rows, on odd sizes") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  const Device device = Device::opencl(0);
  for (const int64_t m : {1, 3, 20})
    for (const int64_t n : {1, 16, 20, 37})
      for (const int64_t k : {1024, 1031, 4099})
        for (const float beta : {0.0f, 1.0f}) {
          CAPTURE(m);
          CAPTURE(n);
          CAPTURE(k);
          const Tensor a = random_tensor({k, m}, 1, device), b = random_tensor({k, n}, 2, device);
          Tensor c = random_tensor({m, n}, 4, device);
          GemmArgs args{.trans_a = true, .m = m, .n = n, .k = k, .beta = beta};
          args.a = &a, args.b = &b, args.c = &c;
          args.lda = m, args.ldb = args.ldc = n;
          REQUIRE(has_few_rows(backend->opencl(), args));
          const Doubles reference = expected(args);
          gemm_few_rows(backend->opencl(), args);
          test::check_close(c, reference, 0, 1e-7 * static_cast<double>(k));
        }
}

TEST_CASE("opencl gemm: the candidates for few vectors apply to no other product") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  const Device device = Device::opencl(0);
  const Tensor a = random_tensor({2048, 8}, 1, device);
  Tensor c({8, 8}, DType::f32, device);
  GemmArgs args{.trans_a = true, .m = 8, .n = 8, .k = 2048, .a = &a, .b = &a, .c = &c};
  args.lda = args.ldb = args.ldc = 8;
  CHECK(has_few_rows(backend->opencl(), args));
  CHECK_FALSE(has_few_columns(backend->opencl(), args));
  GemmArgs scaled = args, batch = args, active = args, plain = args;
  scaled.alpha = 2, batch.batch = 2, active.activation = Activation::relu, plain.trans_a = false;
  for (const GemmArgs* other : {&scaled, &batch, &active, &plain})
    CHECK_FALSE(has_few_rows(backend->opencl(), *other));
}

}  // namespace kaiseki::opencl
