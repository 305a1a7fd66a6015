// SPDX-License-Identifier: MIT
// docs/arrays.md: its lines run, and print the page's output.
#include <sstream>

#include "kaiseki.h"
#include "tests/docs/page.h"

using namespace kaiseki;

// clang-format off
TEST_CASE("arrays: the lines of the page print its text") {
  std::ostringstream out;
// page: arrays
Tensor a{{1, 2}, {3, 4}}, b = Tensor::full({2}, 10);
Tensor c = 2.0f * a - b / 4;  // one pass over memory
c += a * a;
out << c << '\n' << Tensor(c > 2) << '\n' << a(1, 0) << '\n';
// page: end
  const std::string page = test::text_of("docs/arrays.md");
  CHECK(test::code_blocks(page, "cpp")[0] ==
        test::between(test::text_of("tests/docs/arrays_test.cc"), "// page: arrays\n", "// page: end"));
  CHECK(out.str() == test::code_blocks(page, "text")[0]);
}
// clang-format on
