// SPDX-License-Identifier: MIT
// The busy time of an OpenCL device. It has its own program: it must be measured when the device
// is opened.
#include "base/busy_time.h"

#include <doctest/doctest.h>

#include <optional>

#include "base/clock.h"
#include "matrix/ops/copy.h"
#include "nn/train/minibatch_trials.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/nn/train/fixture.h"

namespace kaiseki::nn {
namespace {

/// Returns nothing if there is no device. The first call opens it.
std::optional<Device> measured_device() {
  const BusyTimeMeasurement measured;
  if (!test::opencl_or_null()) return std::nullopt;
  return Device::opencl(0);
}

double busy_seconds_of(Device device) {
  device.synchronize();
  return busy_seconds(device.name()).value();
}

}  // namespace

TEST_CASE("busy time: kernels of an OpenCL device count while a measurement exists") {
  const std::optional<Device> device = measured_device();
  if (!device) return;
  Tensor t({1 << 20}, DType::f32, *device);
  fill(t, 1);
  const double before = busy_seconds_of(*device), begin = steady_seconds();
  {
    const BusyTimeMeasurement measured;
    for (int i = 0; i < 20; ++i) fill(t, 2);
    device->synchronize();
  }
  const double elapsed = steady_seconds() - begin, after = busy_seconds_of(*device);
  CHECK(after > before);
  CHECK(after - before <= elapsed);
  fill(t, 3);
  CHECK(busy_seconds_of(*device) == after);
}

TEST_CASE("busy time: trials of minibatch sizes know the use of an OpenCL device") {
  const std::optional<Device> device = measured_device();
  if (!device) return;
  PlainRun run({.device = *device});
  UpdaterTrials trials(run.updater);
  for (const int64_t size : {1, 8, 25}) {
    CAPTURE(size);
    const auto trial = trials.run(size, 2);
    REQUIRE(trial);
    REQUIRE(trial->use);
    CHECK(*trial->use > 0);
    CHECK(*trial->use <= 1);
  }
  CHECK_FALSE(busy_time_is_measured());
}

}  // namespace kaiseki::nn
