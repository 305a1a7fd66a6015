// SPDX-License-Identifier: MIT
// Implicit GEMM on more than one tile in each dimension.
#include <doctest/doctest.h>

#include <vector>

#include "matrix/backend/opencl/conv/solvers.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/matrix/conv/reference.h"

namespace kaiseki::opencl {

TEST_CASE("implicit gemm: several tiles, in groups, with strides and dilation, all directions") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::WithStyle with(backend->opencl(), Style::gpu);
  const ConvSolver& solver = conv_implicit_gemm_solver(Style::gpu);
  const std::vector<ConvProblem> problems = {
      {.n = 3, .c = 35, .h = 7, .w = 9, .k = 67, .r = 3, .s = 3, .padding = {1, 1}},
      {.n = 2, .c = 70, .h = 5, .w = 8, .k = 130, .r = 1, .s = 1, .groups = 2},
      {.n = 2,
       .c = 36,
       .h = 11,
       .w = 13,
       .k = 40,
       .r = 3,
       .s = 2,
       .stride = {2, 3},
       .padding = {2, 0},
       .dilation = {2, 1}}};
  int ran = 0;
  const size_t most = backend->opencl().most_groups();
  for (ConvProblem p : problems) {
    backend->opencl().set_most_groups(p.groups > 1 ? 1 : most);  // then ranges are split
    const Device device = Device::opencl(0);
    Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, device);
    Tensor filter = test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 2, device);
    Tensor y = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, device);
    const auto e =
        test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(y));
    INFO(p.str());
    Tensor dx = Tensor::full(x.shape(), 7, device), df = Tensor::full(filter.shape(), 7, device);
    p.direction = ConvDirection::backward_data;
    solver.run(p, {.x = &dx, .filter = &filter, .y = &y});
    test::check_sums(dx, e.dx, e.dx_size);
    p.direction = ConvDirection::backward_filter;
    solver.run(p, {.x = &x, .filter = &df, .y = &y});
    test::check_sums(df, e.dfilter, e.dfilter_size);
    p.direction = ConvDirection::forward;
    solver.run(p, {.x = &x, .filter = &filter, .y = &y});
    test::check_sums(y, e.y, e.y_size);
    ++ran;
  }
  backend->opencl().set_most_groups(most);
  CHECK(ran == 3);
}

}  // namespace kaiseki::opencl
