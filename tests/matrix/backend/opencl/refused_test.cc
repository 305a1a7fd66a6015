// SPDX-License-Identifier: MIT
// A driver that refuses some kernels. Other kernels replace them, and finally the CPU.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/error.h"
#include "matrix/backend/dispatch.h"
#include "matrix/backend/opencl/gemm_choice.h"
#include "matrix/memory/workspace.h"
#include "matrix/opencl.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/index.h"
#include "matrix/tune/policy.h"
#include "tests/matrix/backend/opencl/refusal.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/support/operations.h"
#include "tests/support/wait_until.h"

namespace kaiseki {

using test::check_near;
using test::Refusal;

TEST_CASE("if the second of two kernels is refused, nothing is computed twice") {
  test::CacheFolder folder("refused_second");
  if (!test::opencl_or_null()) return;
  const auto statistics = [](Device d) {
    const Tensor x = test::random_tensor({2, 5, 4}, 1, d), one = Tensor::full({5}, 1, d);
    Tensor y(x.shape(), DType::f32, d), mean = one.clone(), var = one.clone(), a = one.clone(),
                                        b = one.clone();
    batch_norm_train({.x = x, .gamma = one, .beta = one, .y = y},
                     {.running_mean = mean, .running_var = var, .mean = a, .inv_std = b});
    return concatenate(std::vector{mean, var}, 0);
  };
  const std::vector<float> expected = test::values(statistics(Device::cpu()));
  const Device device = Device::opencl(0);
  const uint64_t fallbacks = fallback_count();
  const Refusal refusal("no such option", "normalize_elements");
  check_near(test::values(statistics(device)), expected);
  CHECK(fallback_count() == fallbacks + 1);
}

TEST_CASE("if all kernels of f64 are refused, the CPU computes them") {
  test::CacheFolder folder("refused_f64");
  if (!test::opencl_or_null() || !Device::opencl(0).holds(DType::f64)) return;
  const auto compute = [](Device d) {
    const Tensor x = cast(test::random_tensor({3, 4}, 1, d), DType::f64);
    return cast(matmul(cumsum(x, 0), x.transpose().clone()), DType::f32);
  };
  const std::vector<float> expected = test::values(compute(Device::cpu()));
  const uint64_t fallbacks = fallback_count();
  const Refusal refusal("-DF64");
  check_near(test::values(compute(Device::opencl(0))), expected);
  CHECK(fallback_count() == fallbacks + 5);  // a copy, a product, a scan and two conversions
  CHECK(Refusal::refusals >= 5);
}

TEST_CASE("a build that fails for lack of memory succeeds later") {
  test::CacheFolder folder("refused_memory");
  if (!test::opencl_or_null()) return;
  const Device device = Device::opencl(0);
  const Tensor x = test::random_tensor({3, 5}, 1, device);
  const uint64_t fallbacks = fallback_count();
  {
    const Refusal refusal("", "none", CL_OUT_OF_HOST_MEMORY);
    CHECK_THROWS_AS(elementwise("x * 3 + 1.25", {{"x", x}}), DeviceError);
  }
  check_near(test::values(elementwise("x * 3 + 1.25", {{"x", x}})),
             test::values(elementwise("x * 3 + 1.25", {{"x", x.to(Device::cpu())}})));
  CHECK(fallback_count() == fallbacks);
}

TEST_CASE("a launch without room waits for a convolution that launches too") {
  if (!test::opencl_or_null()) return;
  const Device device = Device::opencl(0);
  Workspace& workspace = device.workspace();
  workspace.set_limit({});
  workspace.reserve(1 << 20);
  Tensor x = Tensor::zeros({1000}, DType::f32, device), y = x.clone();
  static std::atomic<int> launches;
  static decltype(&::clEnqueueNDRangeKernel) enqueue;
  auto& api = const_cast<opencl::Api&>(opencl::cl());
  launches = 0, enqueue = api.clEnqueueNDRangeKernel;
  api.clEnqueueNDRangeKernel = [](auto... arguments) -> cl_int {
    return launches++ == 0 ? CL_OUT_OF_RESOURCES : enqueue(arguments...);
  };
  std::thread other;
  {
    const Workspace::HeldBlock use = workspace.use(1 << 20);
    other = std::thread([&] { fill(x, 3); });
    CHECK(test::wait_until([&] { return launches == 1; }));
    fill(y, 4);
    CHECK(launches == 2);  // the other thread tries again after the workspace was released
  }
  other.join();
  api.clEnqueueNDRangeKernel = enqueue;
  CHECK(launches == 3);
  CHECK(workspace.size() == 0);
  CHECK(x.to_vector() == std::vector<float>(1000, 3));
  CHECK(y.to_vector() == std::vector<float>(1000, 4));
  workspace.set_limit({});
}

TEST_CASE("if one candidate of a matrix product is refused, another computes on the device") {
  test::CacheFolder folder("refused_gemm");
  if (!test::opencl_or_null()) return;
  const Device device = Device::opencl(0);
  forget_measurements();
  const Tensor a = test::random_tensor({33, 29}, 1, device),
               b = test::random_tensor({29, 31}, 2, device);
  const uint64_t fallbacks = fallback_count();
  const Refusal refusal("VECTORS=4");
  check_near(test::values(matmul(a, b)),
             test::values(matmul(a.to(Device::cpu()), b.to(Device::cpu()))));
  CHECK(fallback_count() == fallbacks);
  forget_measurements();
}

TEST_CASE("a custom kernel that does not build stays an error") {
  test::CacheFolder folder("refused_user");
  if (!test::opencl_or_null()) return;
  const Refusal refusal("");
  const uint64_t fallbacks = fallback_count();
  const CustomKernel kernel("__kernel void k() {}", "k");
  CHECK_THROWS_AS(kernel.run(Device::opencl(0), {}, {1}), DeviceError);
  CHECK(fallback_count() == fallbacks);
}

TEST_CASE("rows and labels that are only on the device are checked before the CPU uses them") {
  test::CacheFolder folder("refused_rows");
  if (!test::opencl_or_null()) return;
  const Device device = Device::opencl(0);
  const Tensor far = argmax(Tensor::from({0, 0, 9}, {1, 3}, device), 1);  // {2}, only on the device
  const Tensor table = Tensor::full({2, 3}, 1, device);
  {
    const Refusal refusal("no such option", "take");
    CHECK_THROWS_AS(take(table, far, 0), ShapeError);
    CHECK(Refusal::refusals == 1);
  }
  const Tensor label = argmax(Tensor::from({0, 0, 9}, {1, 3}, device), 1);
  const Refusal refusal("no such option", "cross_entropy_forward");
  CHECK_THROWS_AS(softmax_cross_entropy(Tensor::full({1, 2}, 1, device), label), ShapeError);
  CHECK(Refusal::refusals == 1);
}

}  // namespace kaiseki
