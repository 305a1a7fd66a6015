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
       .dilation = {2, 1}},
      // Whole vectors, and a filter's gradient in many parts.
      {.n = 2, .c = 36, .h = 20, .w = 20, .k = 132, .r = 3, .s = 3, .padding = {1, 1}},
      // More taps than bits.
      {.n = 2, .c = 3, .h = 19, .w = 17, .k = 36, .r = 9, .s = 9, .stride = {2, 2}}};
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
    for (const ConvSolver* solver : conv_implicit_gemm_solvers(Style::gpu)) {
      const auto run = [&](ConvDirection direction, const ConvArgs& args) {
        p.direction = direction;
        // Both share one source, which takes seconds to compile for each problem.
        const bool is_plain = solver->name() == "opencl_implicit_gemm";
        if (!solver->applicable(p) || (!is_plain && p.dilation[0] > 1)) return false;
        Tensor workspace(Shape{static_cast<int64_t>(solver->workspace_bytes(p))}, DType::u8,
                         device);
        ConvArgs with_workspace = args;
        with_workspace.workspace = &workspace;
        solver->run(p, with_workspace);
        ++ran;
        return true;
      };
      INFO(std::string(solver->name()));
      Tensor dx = Tensor::full(x.shape(), 7, device), df = Tensor::full(filter.shape(), 7, device);
      Tensor out = Tensor::full(y.shape(), 7, device);
      if (run(ConvDirection::backward_data, {.x = &dx, .filter = &filter, .y = &y}))
        test::check_sums(dx, e.dx, e.dx_size);
      if (run(ConvDirection::backward_filter, {.x = &x, .filter = &df, .y = &y}))
        test::check_sums(df, e.dfilter, e.dfilter_size);
      if (run(ConvDirection::forward, {.x = &x, .filter = &filter, .y = &out}))
        test::check_sums(out, e.y, e.y_size);
    }
  }
  backend->opencl().set_most_groups(most);
  CHECK(ran == 27);
}

}  // namespace kaiseki::opencl
