// SPDX-License-Identifier: MIT
// Follows docs/adding-a-solver.md. This file has the page's code, and the test compares the two
// texts.
#include <doctest/doctest.h>

#include "tests/docs/page.h"
#include "tests/matrix/conv/cases.h"
#include "tests/matrix/conv/reference.h"

// clang-format off
// page: the solver
#include "matrix/backend/backend.h"
#include "matrix/backend/operations/gemm.h"
#include "matrix/backend/registry.h"
#include "matrix/conv/solver.h"

using namespace kaiseki;

// Filters of one element: a product of matrices for each sample.
class Pointwise : public ConvSolver {
 public:
  std::string_view name() const override { return "product_of_images"; }

  bool applicable(const ConvProblem& p) const override {
    using Pair = std::array<int64_t, 2>;
    return p.direction == ConvDirection::forward && p.r == 1 && p.s == 1 && p.groups == 1 &&
           p.stride == Pair{1, 1} && p.padding == Pair{0, 0} && p.extra_padding == Pair{0, 0};
  }

  uint64_t workspace_bytes(const ConvProblem&) const override { return 0; }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const int64_t plane = p.h * p.w;
    GemmArgs product;  // y[n] = filter x[n], of shapes [k, plane], [k, c], [c, plane]
    product.m = p.k, product.n = plane, product.k = p.c, product.batch = p.n;
    product.a = args.filter, product.b = args.x, product.c = args.y;
    product.lda = p.c, product.ldb = plane, product.ldc = plane;
    product.stride_b = p.c * plane, product.stride_c = p.k * plane;
    product.bias_kind = args.bias ? GemmArgs::Bias::per_row : GemmArgs::Bias::none;
    product.bias = args.bias;
    product.activation = args.activation, product.slope = args.slope;
    cpu_backend().run(kGemm, product);
  }
};
// page: end
// clang-format on

TEST_CASE("adding a solver: the page's code is this code") {
  const auto blocks = test::code_blocks(test::text_of("docs/adding-a-solver.md"), "cpp");
  REQUIRE(!blocks.empty());
  CHECK(blocks[0] == test::between(test::text_of("tests/docs/adding_a_solver_test.cc"),
                                   "// page: the solver\n", "// page: end"));
}

TEST_CASE("adding a solver: it computes what it says that it can") {
  const Pointwise solver;
  int ran = 0;
  for (ConvProblem p : test::conv_cases()) {
    for (ConvDirection other : {ConvDirection::backward_data, ConvDirection::backward_filter}) {
      p.direction = other;
      CHECK_FALSE(solver.applicable(p));
    }
    p.direction = ConvDirection::forward;
    if (!solver.applicable(p)) continue;
    ++ran;
    INFO(p.str());
    Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1);
    Tensor filter = test::random_tensor({p.k, p.c, 1, 1}, 2);
    const Tensor bias = test::random_tensor({p.k}, 3);
    Tensor y = Tensor::full({p.n, p.k, p.h, p.w}, 7);
    auto expected =
        test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(y));
    solver.run(p, {.x = &x, .filter = &filter, .y = &y});
    test::check_sums(y, expected.y, expected.y_size);
    for (size_t i = 0; i < expected.y.size(); ++i) {
      const size_t k = i / static_cast<size_t>(p.h * p.w) % static_cast<size_t>(p.k);
      expected.y[i] = std::max(0.0, expected.y[i] + test::doubles(bias)[k]);
      expected.y_size[i] += 1;
    }
    solver.run(
        p, {.x = &x, .filter = &filter, .y = &y, .bias = &bias, .activation = Activation::relu});
    test::check_sums(y, expected.y, expected.y_size);
  }
  CHECK(ran >= 4);
}
