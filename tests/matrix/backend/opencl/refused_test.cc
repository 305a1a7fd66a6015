// SPDX-License-Identifier: MIT
// A driver that opens and then refuses kernels: other kernels take over, and in the end the CPU.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "matrix/backend/opencl/api.h"
#include "matrix/error.h"
#include "matrix/log.h"
#include "matrix/opencl.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/support/operations.h"

namespace kaiseki {
namespace {

/// While it lives, the driver builds no program.
class Refusal {
 public:
  Refusal() : entry_(const_cast<opencl::Api&>(opencl::cl()).clBuildProgram), real_(entry_) {
    entry_ = refuse;
    builds = 0;
  }
  ~Refusal() { entry_ = real_; }

  static inline int builds = 0;

 private:
  static cl_int CL_API_CALL refuse(cl_program, cl_uint, const cl_device_id*, const char*,
                                   void(CL_CALLBACK*)(cl_program, void*), void*) {
    ++builds;
    return CL_BUILD_PROGRAM_FAILURE;
  }

  decltype(&::clBuildProgram)& entry_;
  decltype(&::clBuildProgram) real_;
};

void check_close(const std::vector<float>& values, const std::vector<float>& expected) {
  REQUIRE(values.size() == expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    CHECK(values[i] == doctest::Approx(expected[i]).epsilon(1e-5));
}

}  // namespace

TEST_CASE("where the driver refuses kernels the CPU computes, and says so once") {
  test::CacheFolder folder("refused");
  if (!test::opencl_or_null()) return;
  const Device device = Device::opencl(0);
  const Refusal refusal;
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel, std::string_view text) { warnings.emplace_back(text); });
  for (const test::Operation& one : test::operations()) {
    INFO(std::string(op_name(one.op)));
    const std::vector<float> expected = test::values(one.run(Device::cpu()));
    const uint64_t fallbacks = fallback_count();
    for (int round = 0; round < 2; ++round) {
      const Tensor y = one.run(device);
      CHECK(y.device() == device);
      check_close(test::values(y), expected);
    }
    if (one.op != Op::copy && one.op != Op::fill) CHECK(fallback_count() > fallbacks);
  }
  set_log_sink({});
  for (size_t i = 0; i < warnings.size(); ++i)
    for (size_t j = 0; j < i; ++j) CHECK(warnings[i] != warnings[j]);
  CHECK(Refusal::builds > 10);
  const int builds = Refusal::builds;
  softmax(test::random_tensor({3, 4}, 1, device));
  CHECK(Refusal::builds == builds);  // a refusal is remembered
}

TEST_CASE("a user's own kernel that does not build stays an error") {
  test::CacheFolder folder("refused_user");
  if (!test::opencl_or_null()) return;
  const Refusal refusal;
  const uint64_t fallbacks = fallback_count();
  const CustomKernel kernel("__kernel void k() {}", "k");
  CHECK_THROWS_AS(kernel.run(Device::opencl(0), {}, {1}), DeviceError);
  CHECK(fallback_count() == fallbacks);
}

}  // namespace kaiseki
