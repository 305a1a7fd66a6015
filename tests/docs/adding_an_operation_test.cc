// SPDX-License-Identifier: MIT
// Follows the part of docs/adding-an-operation.md that does not change the library. This file has
// the page's kernel, and the test compares the two texts. embedding_test.cc has the page's
// expression. follow_pages.py follows the other part.
#include "matrix/opencl.h"
#include "tests/docs/page.h"
#include "tests/support/devices.h"

using namespace kaiseki;

// clang-format off
TEST_CASE("adding an operation: a kernel of one's own") {
  const std::string code = test::text_of("tests/docs/adding_an_operation_test.cc");
  const auto blocks = test::code_blocks(test::text_of("docs/adding-an-operation.md"), "cpp");
  REQUIRE(blocks.size() > 1);
  CHECK(blocks[1] == test::between(code, "// page: the kernel\n", "// page: end"));
  if (!test::opencl_is_there()) return;
// page: the kernel
CustomKernel twice(R"(__kernel void twice(__global float* x, float a, int n) {
  int i = get_global_id(0);
  if (i < n) x[i] *= a;
})", "twice");

Tensor x = Tensor::from({1, 2, 3}, Shape{3}, Device::opencl(0));
twice.run(x.device(), {x, 2.0f, int32_t(x.size())}, {size_t(x.size())});
// page: end
  CHECK(x.to_vector() == std::vector<float>{2, 4, 6});
}
// clang-format on
