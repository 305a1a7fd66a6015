// SPDX-License-Identifier: MIT
// The program of docs/pool.md that gives work to a coordinator.
// clang-format off
// page: includes
#include <dist/net/task.h>
using namespace kaiseki;

// page: end
// clang-format on
#include <set>

#include "dist/samples/samples.h"
#include "tests/dist/net/computing.h"
#include "tests/dist/net/running.h"
#include "tests/docs/page.h"

// clang-format off
TEST_CASE("pool: a program lists the primes with a coordinator's nodes") {
  const auto text_of = [](ByteView bytes) { return test::text(bytes); };
  test::Running at;
  test::Computing node(at.server.url(), dist::sample_functions());
  const std::string url = at.server.url(), token = "author";
// page: the rest
dist::Project project({.url = dist::parse_coordinator_url(url), .token = token}, "primes");
dist::Task task(project, {.name = "is it prime?", .function = "sample.primes"});

std::vector<std::string> numbers;
for (int n = 1; n <= 1000; ++n) numbers.push_back(std::to_string(n));
task.calculate(numbers);

std::set<size_t> primes;
task.for_each_finished([&](size_t input, ByteVector result) {
  if (text_of(result) == "true") primes.insert(input + 1);
});
// page: end
  CHECK(primes.size() == 168);
  CHECK(*primes.begin() == 2);
  CHECK(*primes.rbegin() == 997);
  const std::string own = test::text_of("tests/docs/pool_task_test.cc");
  CHECK(test::code_blocks(test::text_of("docs/pool.md"), "cpp")[0] ==
        test::between(own, "// page: includes\n", "// page: end") +
            test::between(own, "// page: the rest\n", "// page: end"));
}
// clang-format on
