// SPDX-License-Identifier: MIT
// A driver that refuses every kernel from the start.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/log.h"
#include "matrix/backend/dispatch.h"
#include "tests/matrix/backend/opencl/refusal.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/support/operations.h"

namespace kaiseki {

using test::check_near;
using test::Refusal;

TEST_CASE("if all kernels are refused, the CPU computes, and each operation is logged once") {
  test::CacheFolder folder("refused");
  if (!test::opencl_or_null()) return;
  const Device device = Device::opencl(0);
  const Refusal refusal("");
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel, std::string_view text) {
    if (text.find("runs on the CPU, with transfers") != std::string_view::npos)
      warnings.emplace_back(text);
  });
  for (const test::OperationCase& one : test::operations()) {
    const std::string name(one.name);
    INFO(name);
    if (name == "cast" && !device.holds(DType::f64)) continue;  // converts f64
    const std::vector<float> expected = test::values(one.run(Device::cpu()));
    const uint64_t fallbacks = fallback_count();
    for (int round = 0; round < 2; ++round) {
      const Tensor y = one.run(device);
      CHECK(y.device() == device);
      check_near(test::values(y), expected);
    }
    CHECK(fallback_count() > fallbacks);
    const auto told = std::ranges::count_if(
        warnings, [&](const std::string& text) { return text.starts_with('[' + name + ']'); });
    CHECK(told == 1);
  }
  set_log_sink({});
  const int before = Refusal::refusals;
  CHECK(before > 10);
  softmax(test::random_tensor({3, 4}, 1, device));
  CHECK(Refusal::refusals == before);  // a refusal is remembered
}

}  // namespace kaiseki
