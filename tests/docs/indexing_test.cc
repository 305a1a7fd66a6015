// SPDX-License-Identifier: MIT
// The code of docs/indexing.md. The test compares the two texts.
// clang-format off
// page: indexing
#include <kaiseki.h>
using namespace kaiseki;

// page: end
// clang-format on
#include "tests/docs/page.h"
#include "tests/support/folder.h"

// clang-format off
TEST_CASE("indexing: the code of the page") {
  const test::Folder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path);
// page: indexing, the rest
Tensor x = arange(24).reshape({4, 6});
Tensor corner = x(Slice(0, 2), Slice({}, {}, -1));      // x[0:2, ::-1]
Tensor best = take(x, argsort(x(All, 0), 0, true), 0);  // the row with the largest first element is first
Tensor spread = stddev(x, {0});
nn::write_npy("best.npy", best);
// page: end
  std::filesystem::current_path(before);
  CHECK(corner.to_vector() == std::vector<float>{5, 4, 3, 2, 1, 0, 11, 10, 9, 8, 7, 6});
  CHECK(nn::read_npy(folder.path / "best.npy").to_vector()[0] == 18);
  CHECK(spread.shape() == Shape{6});
  const std::string own = test::text_of("tests/docs/indexing_test.cc");
  CHECK(test::code_blocks(test::text_of("docs/indexing.md"), "cpp")[0] ==
        test::between(own, "// page: indexing\n", "// page: end") +
        test::between(own, "// page: indexing, the rest\n", "// page: end"));
}
