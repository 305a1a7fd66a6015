// SPDX-License-Identifier: MIT
#include "matrix/memory/idle_tensors.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/matrix/memory/small_device.h"
#include "tests/support/simulated_link.h"

namespace kaiseki {
namespace {

using test::kMiB;

bool is_outside(const Tensor& tensor) { return tensor.buffer().left_device(); }

}  // namespace

TEST_CASE("idle tensors: the one with the latest next use leaves first") {
  const test::SimulatedLink link(1e12);
  const test::SmallDevice device(Device::cpu(), 3 * kMiB + test::kKiB);
  IdleTensors idle(Device::cpu());
  std::vector<Tensor> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(device.tensor(kMiB));
    all.back().overwrite<uint8_t>()[0] = static_cast<uint8_t>(7 + i);
    idle.add(all.back());
  }
  idle.add(all.back());           // the same tensor counts once
  idle.add(device.tensor(1000));  // stays: it is small
  idle.add(Tensor());             // not defined
  const auto bytes = [] { return Device::cpu().memory().idle_bytes(); };
  CHECK(bytes().all == 3 * kMiB);
  CHECK(bytes().on_device == 3 * kMiB);
  {
    IdleTensors again(Device::cpu());
    again.add(all[0]);
    CHECK(bytes().all == 3 * kMiB);
  }
  idle.begin(all[1]);
  const Tensor one = device.tensor(kMiB);
  CHECK(is_outside(all[0]));  // used before
  CHECK_FALSE(is_outside(all[1]));
  CHECK_FALSE(is_outside(all[2]));
  const Tensor another = device.tensor(kMiB);
  CHECK_FALSE(is_outside(all[1]));
  CHECK(is_outside(all[2]));
  CHECK(bytes().all == 3 * kMiB);
  CHECK(bytes().on_device == kMiB);
  CHECK(all[0].data<uint8_t>()[0] == 7);  // all[1] makes room
  CHECK(is_outside(all[1]));
}

TEST_CASE("idle tensors: held tensors stay, and other threads get no room") {
  const test::SimulatedLink link(1e12);
  const test::SmallDevice device(Device::cpu(), 2 * kMiB);
  const Tensor first = device.tensor(kMiB), second = device.tensor(kMiB);
  IdleTensors idle(Device::cpu());
  idle.add(first);
  idle.add(second);
  std::thread([&] {
    CHECK(Device::cpu().memory().idle_bytes().all == 0);
    CHECK_THROWS_AS(Device::cpu().memory().allocate(kMiB), OutOfMemory);
  }).join();
  {
    const BufferHold hold_first(first.buffer()), again(first.buffer());
    const Tensor other = device.tensor(kMiB);
    CHECK_FALSE(is_outside(first));
    CHECK(is_outside(second));
    CHECK_THROWS_AS(device.tensor(kMiB), OutOfMemory);
  }
  const Tensor more = device.tensor(2 * kMiB);
  CHECK(is_outside(first));
}

TEST_CASE("idle tensors: without a place for them, tensors stay") {
  const test::SmallDevice device(Device::cpu(), kMiB);
  const Tensor tensor = device.tensor(kMiB);
  IdleTensors idle(Device::cpu());
  idle.add(tensor);
  CHECK(Device::cpu().memory().idle_bytes().all == 0);
  CHECK_THROWS_AS(device.tensor(kMiB), OutOfMemory);
}

}  // namespace kaiseki
