// SPDX-License-Identifier: MIT
// The three rules of the automatic workspace, on every device.
#include "matrix/memory/workspace.h"

#include <doctest/doctest.h>

#ifdef __linux__
#include <unistd.h>

#include <fstream>
#endif
#include <algorithm>
#include <thread>
#include <vector>

#include "base/error.h"
#include "matrix/memory/allocator.h"
#include "matrix/ops/copy.h"
#include "tests/matrix/memory/small_device.h"
#include "tests/support/devices.h"
#include "tests/support/wait_until.h"

namespace kaiseki {
namespace {

using test::kKiB;
using test::kMiB;
using test::SmallDevice;

#ifdef __linux__
/// The bytes of this process that are in physical memory.
uint64_t resident() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}
#endif

}  // namespace

TEST_CASE("workspace: takes the largest wanted size that is free after an iteration") {
  test::for_each_device([](Device device) {
    SmallDevice small(device, 16 * kMiB);
    Workspace& workspace = small.workspace();
    const Tensor weights = small.tensor(4 * kMiB);
    { const Tensor activations = small.tensor(5 * kMiB); }  // stays in the allocator's cache
    workspace.request_sizes(std::vector<uint64_t>{2 * kMiB, 6 * kMiB, 8 * kMiB, 40 * kMiB}, {});
    CHECK(workspace.size() == 0);
    workspace.grow();
    CHECK(workspace.size() == 6 * kMiB);  // 16 - 4 - 5 are free; the cache is not used
    CHECK(small.allocator().account().workspace == 6 * kMiB);
    CHECK(small.allocator().account().cached == 5 * kMiB);
    workspace.grow();  // no size is wanted, so the block stays
    CHECK(workspace.size() == 6 * kMiB);
    CHECK(workspace.use(6 * kMiB).memory.bytes() == 6 * kMiB);
    CHECK_FALSE(workspace.use(6 * kMiB + 1).memory.defined());
  });
}

#ifdef __linux__
TEST_CASE("workspace: host memory is committed at once, so that none is promised twice") {
  test::for_each_device([](Device device) {
    SmallDevice small(device, 160 * kMiB);
    if (small.allocator().available() == UINT64_MAX) return;  // the device has its own memory
    const uint64_t before = resident();
    small.workspace().reserve(128 * kMiB);
    REQUIRE(small.workspace().size() == 128 * kMiB);
    CHECK(resident() >= before + 127 * kMiB);
  });
}

TEST_CASE("workspace: the available memory excludes what queued work will write") {
  test::for_each_device([](Device device) {
    SmallDevice small(device, 160 * kMiB);
    if (small.allocator().available() == UINT64_MAX) return;  // the device has its own memory
    Tensor tensor({32 * static_cast<int64_t>(kMiB)}, DType::f32, device);
    const uint64_t before = resident();
    fill(tensor, 1);
    small.allocator().available();
    CHECK(resident() >= before + 127 * kMiB);
  });
}
#endif

TEST_CASE("workspace: is released for tensors, and taken again after the next iteration") {
  test::for_each_device([](Device device) {
    SmallDevice small(device, 16 * kMiB);
    Workspace& workspace = small.workspace();
    workspace.request_sizes(std::vector<uint64_t>{12 * kMiB}, {});
    workspace.grow();
    REQUIRE(workspace.size() == 12 * kMiB);
    Tensor larger = small.tensor(10 * kMiB);  // fits only if the workspace is released
    CHECK(workspace.size() == 0);
    CHECK(small.allocator().account().workspace == 0);
    CHECK(workspace.available() == 0);  // no block is taken at once any more
    CHECK_FALSE(workspace.use(64).memory.defined());
    CHECK_THROWS_AS(small.tensor(7 * kMiB), OutOfMemory);
    workspace.request_sizes(std::vector<uint64_t>{5 * kMiB, 12 * kMiB}, {});
    workspace.grow();
    CHECK(workspace.size() == 5 * kMiB);  // smaller, because the tensor still exists
    larger = Tensor();
    small.allocator().trim();
    workspace.request_sizes(std::vector<uint64_t>{12 * kMiB}, {});
    workspace.grow();
    CHECK(workspace.size() == 12 * kMiB);
    CHECK(small.allocator().account().peak >= 12 * kMiB);
  });
}

TEST_CASE("workspace: a small block is taken on first use") {
  test::for_each_device([](Device device) {
    SmallDevice small(device, 16 * kMiB);
    Workspace& workspace = small.workspace();
    const uint64_t early = workspace.available();
    CHECK(early >= kMiB);
    CHECK(workspace.size() == 0);
    CHECK(workspace.use(700 * kKiB).memory.bytes() == 700 * kKiB);
    CHECK(workspace.use(800 * kKiB).memory.bytes() == 800 * kKiB);
    CHECK(workspace.size() == 800 * kKiB);
    CHECK_FALSE(workspace.use(early + 1).memory.defined());
    const Tensor all = small.tensor(16 * kMiB);
    CHECK(workspace.size() == 0);
  });
}

TEST_CASE("workspace: a user's limit is respected, and 0 means no block") {
  test::for_each_device([](Device device) {
    SmallDevice small(device, 16 * kMiB);
    Workspace& workspace = small.workspace();
    workspace.set_limit(2 * kMiB);
    CHECK(workspace.available() == 2 * kMiB);
    CHECK(workspace.use(2 * kMiB).memory.defined());
    CHECK_FALSE(workspace.use(2 * kMiB + 1).memory.defined());
    CHECK_FALSE(workspace.allows(2 * kMiB + 1));
    workspace.request_sizes(std::vector<uint64_t>{4 * kMiB}, {});
    workspace.grow();
    workspace.reserve(4 * kMiB);
    CHECK(workspace.size() == 2 * kMiB);
    workspace.set_limit(0);
    CHECK(workspace.size() == 0);
    CHECK_FALSE(workspace.use(1).memory.defined());
    CHECK(small.allocator().account().workspace == 0);
  });
}

TEST_CASE("workspace: a resumed run can take its size before its first iteration") {
  test::for_each_device([](Device device) {
    SmallDevice small(device, 16 * kMiB);
    small.workspace().reserve(64 * kMiB);  // more than there is, so no block is taken
    CHECK(small.workspace().size() == 0);
    small.workspace().reserve(3 * kMiB);
    CHECK(small.workspace().size() == 3 * kMiB);
  });
}

TEST_CASE("workspace: one convolution uses it at a time, and a tensor that needs it waits") {
  SmallDevice small(Device::cpu(), 16 * kMiB);
  Workspace& workspace = small.workspace();
  workspace.reserve(12 * kMiB);
  int order = 0, used = 0, allocated = 0;
  std::thread other;
  {
    const Workspace::HeldBlock use = workspace.use(12 * kMiB);
    small.tensor(kKiB);  // its block stays in the cache
    REQUIRE(small.allocator().account().cached > 0);
    other = std::thread([&] {
      const Tensor larger = small.tensor(10 * kMiB);
      allocated = ++order;
    });
    // The allocator frees its cache just before it waits for the workspace.
    CHECK(test::wait_until([&] { return small.allocator().account().cached == 0; }));
    CHECK(use.memory.bytes() == 12 * kMiB);
    used = ++order;
  }
  other.join();
  CHECK(used == 1);
  CHECK(allocated == 2);
  CHECK(workspace.size() == 0);
}

TEST_CASE("workspace: a solver that runs out of memory keeps its block") {
  SmallDevice small(Device::cpu(), 16 * kMiB);
  small.workspace().reserve(12 * kMiB);
  {
    const Workspace::HeldBlock use = small.workspace().use(12 * kMiB);
    CHECK_THROWS_AS(small.tensor(10 * kMiB), OutOfMemory);
    CHECK(use.memory.defined());
  }
  CHECK(small.tensor(10 * kMiB).defined());
}

}  // namespace kaiseki
