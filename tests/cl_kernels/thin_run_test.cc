// SPDX-License-Identifier: MIT
// Runs the kernels of products with few columns or rows. They are only for CPUs.
#include <doctest/doctest.h>

#include "matrix/backend/opencl/gemm_thin.h"
#include "matrix/ops/gemm.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/support/reference.h"

namespace kaiseki {

TEST_CASE("kernels: products with few columns or rows") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  for (const int64_t k : {5, 70}) {
    Tensor x = test::random_tensor(Shape{37, k}, 1), w = test::random_tensor(Shape{3, k}, 2);
    Tensor y = x.to(Device::opencl(0)), v = w.to(Device::opencl(0));
    Tensor c({37, 3}, DType::f32, Device::opencl(0));
    GemmArgs args{.trans_b = true, .m = 37, .n = 3, .k = k, .a = &y, .b = &v, .c = &c};
    args.lda = args.ldb = k;
    args.ldc = 3;
    opencl::gemm_few_columns(backend->opencl(), args);
    test::check_close(c, test::doubles(matmul(x, w, false, true)), 1e-5, 1e-5);
  }
  Tensor a = test::random_tensor(Shape{1031, 3}, 3), b = test::random_tensor(Shape{1031, 21}, 4);
  Tensor left = a.to(Device::opencl(0)), right = b.to(Device::opencl(0));
  Tensor c({3, 21}, DType::f32, Device::opencl(0));
  GemmArgs args{.trans_a = true, .m = 3, .n = 21, .k = 1031, .a = &left, .b = &right, .c = &c};
  args.lda = 3;
  args.ldb = args.ldc = 21;
  opencl::gemm_few_rows(backend->opencl(), args);
  test::check_close(c, test::doubles(matmul(a, b, true)), 1e-5, 1e-4);
}

}  // namespace kaiseki
