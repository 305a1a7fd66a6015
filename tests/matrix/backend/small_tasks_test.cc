// SPDX-License-Identifier: MIT
#include "matrix/backend/small_tasks.h"

#include <doctest/doctest.h>

#include <vector>

#include "matrix/memory/buffer.h"
#include "matrix/opencl.h"
#include "matrix/ops/create.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/sort.h"
#include "matrix/tune/policy.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

struct SmallTasksOnCpu {
  SmallTasksOnCpu() { set_small_tasks_on_cpu(true); }
  ~SmallTasksOnCpu() { set_small_tasks_on_cpu(false); }
};

/// Calls body(device) for each device but the CPU, with small tasks on the CPU.
template <class Body>
void for_each_other_device(const Body& body) {
  const SmallTasksOnCpu scope;
  for_each_device([&](Device device) {
    if (!device.is_cpu()) body(device);
  });
}

/// Counts the work of devices since its construction.
struct Work {
  uint64_t kernels = opencl_kernel_count().launches;
  TransferCount transfers = transfer_count();
  bool none() const {
    return opencl_kernel_count().launches == kernels &&
           transfer_count().to_device == transfers.to_device &&
           transfer_count().to_host == transfers.to_host;
  }
};

/// A chain of operations with one number as its result.
float chain(Device device, int64_t n, DType type = DType::f32) {
  const Tensor narrow = random_tensor({n, n}, 1, device), x = cast(narrow, type),
               y = cast(random_tensor({n, n}, 2, device), type);
  const Tensor z = cast(elementwise("2 * x + 1", {{"x", narrow}}), type);
  const Tensor order = argsort(y.slice(1, 0, 1).contiguous().reshape({n}));
  const Tensor places = searchsorted(arange(n, DType::i32, device), order);
  return cast(sum(matmul(tril(z), x.slice(0, 0, n))), DType::f32).item() +
         static_cast<float>(sum(places).item<int32_t>());
}

}  // namespace

TEST_CASE("small tasks: a chain of new tensors runs on the CPU and transfers nothing") {
  for_each_other_device([](Device device) {
    CHECK(device.backend().small_task_limit() > 0);
    for (DType type : {DType::f32, DType::f64})
      for (int64_t n : {1, 7, 17}) {
        if (!device.holds(type)) continue;
        CAPTURE(n);
        CAPTURE(dtype_name(type));
        const Work work;
        CHECK(chain(device, n, type) == chain(Device::cpu(), n, type));
        CHECK(work.none());
      }
  });
  CHECK(Device::cpu().backend().small_task_limit() == 0);
}

TEST_CASE("small tasks: large tasks and tensors on the device stay on the device") {
  for_each_other_device([](Device device) {
    const Tensor large = random_tensor({1 << 21}, 3, device);
    Work work;
    sum(large);
    CHECK_FALSE(work.none());
    Tensor used = random_tensor({7}, 4, device);
    used.buffer().on_device(Access::read);
    work = {};
    const Tensor doubled = elementwise("2 * x", {{"x", used}});
    CHECK_FALSE(work.none());
    CHECK(doubled.buffer().valid_on_device());
  });
}

TEST_CASE("small tasks: a deterministic policy and tests run them on the device") {
  const TunePolicy before = tune_policy();
  for_each_other_device([&](Device device) {
    set_tune_policy({.mode = before.mode, .deterministic = true});
    Work work;
    chain(device, 7);
    CHECK_FALSE(work.none());
    set_tune_policy(before);
    set_small_tasks_on_cpu(false);
    work = {};
    chain(device, 7);
    CHECK_FALSE(work.none());
    set_small_tasks_on_cpu(true);
  });
}
