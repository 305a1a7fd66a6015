// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/cpu_backend.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "matrix/backend/cpu/gemm_kernel.h"
#include "matrix/backend/dispatch.h"
#include "matrix/backend/registry.h"
#include "matrix/threads.h"
#include "tests/support/operations.h"

using namespace kaiseki;

TEST_CASE("cpu backend: has every operation and describes itself") {
  Backend& backend = cpu_backend();
  const uint64_t fallbacks = fallback_count();
  for (const test::OperationCase& one : test::operations()) one.run(Device::cpu());
  CHECK(fallback_count() == fallbacks);
  DeviceInfo info = backend.info();
  CHECK(info.device == Device::cpu());
  CHECK(!info.name.empty());
  CHECK(info.platform.starts_with("Highway "));
  CHECK(info.compute_units == thread_count());
  CHECK(info.memory > 0);
  CHECK(!backend.conv_solvers().empty());
}

TEST_CASE("cpu backend: tests/support/operations.h has a case of every operation") {
  std::set<std::string_view> cases;
  for (const test::OperationCase& one : test::operations()) cases.insert(one.name);
  const std::vector<std::string_view> names = cpu_backend().operations();
  CHECK(!names.empty());
  for (const std::string_view name : names)
    CHECK_MESSAGE(cases.contains(name), name, " has no case in operations()");
}

TEST_CASE("cpu backend: an unknown instruction set is an error") {
  const char* before = std::getenv("KAISEKI_CPU_TARGET");
  std::string saved = before ? before : "";
  setenv("KAISEKI_CPU_TARGET", "mmx", 1);
  CHECK_THROWS_WITH_AS(CpuBackend(),
                       "[environment] expected KAISEKI_CPU_TARGET as sse4, avx2 or avx3, got 'mmx'",
                       Error);
  setenv("KAISEKI_CPU_TARGET", saved.c_str(), 1);
}

TEST_CASE(
    "cpu backend: kernels respect the limit of the instruction set after a query of its name") {
  const char* target = std::getenv("KAISEKI_CPU_TARGET");
  const std::string cap = target ? target : "";
  cpu_backend().info();
  const int lanes = cpu::gemm_kernels().lanes;
  CHECK((cap != "sse4" || lanes == 4));
  CHECK((cap != "avx2" || lanes <= 8));
}
