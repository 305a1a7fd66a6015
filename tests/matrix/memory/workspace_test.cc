// SPDX-License-Identifier: MIT
// The three rules of the automatic workspace, on every device.
#include "matrix/memory/workspace.h"

#include <doctest/doctest.h>

#ifdef __linux__
#include <unistd.h>

#include <fstream>
#endif
#include <thread>

#include "matrix/error.h"
#include "matrix/memory/pool.h"
#include "matrix/ops/copy.h"
#include "tests/support/devices.h"

namespace kaiseki {
namespace {

constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB;

/// A device with a budget of its own beyond what is in use, and a fresh workspace.
class SmallDevice {
 public:
  SmallDevice(Device device, uint64_t bytes) : device_(device) {
    workspace().set_limit({});
    pool().trim();
    pool().set_budget(pool().account().in_use + bytes);
  }
  ~SmallDevice() {
    pool().set_budget({});
    workspace().set_limit({});
  }
  MemoryPool& pool() const { return device_.memory(); }
  Workspace& workspace() const { return device_.workspace(); }
  Tensor tensor(uint64_t bytes) const {
    return Tensor({static_cast<int64_t>(bytes)}, DType::u8, device_);
  }

 private:
  Device device_;
};

#ifdef __linux__
/// Bytes of this process that the system has given memory.
uint64_t resident() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}
#endif

}  // namespace

TEST_CASE("workspace: after an iteration, the largest registered size that fits what is free") {
  test::for_each_device([](Device device) {
    SmallDevice small(device, 16 * kMiB);
    Workspace& workspace = small.workspace();
    const Tensor weights = small.tensor(4 * kMiB);
    { const Tensor activations = small.tensor(5 * kMiB); }  // stays in the pool's cache
    for (uint64_t bytes : {2 * kMiB, 6 * kMiB, 8 * kMiB, 40 * kMiB}) workspace.register_size(bytes);
    CHECK(workspace.size() == 0);
    workspace.end_iteration();
    CHECK(workspace.size() == 6 * kMiB);  // 16 - 4 - 5 are free; the cache is not touched
    CHECK(small.pool().account().workspace == 6 * kMiB);
    CHECK(small.pool().account().cached == 5 * kMiB);
    workspace.end_iteration();  // nothing registered: it stays
    CHECK(workspace.size() == 6 * kMiB);
    CHECK(workspace.use(6 * kMiB).memory.bytes() == 6 * kMiB);
    CHECK_FALSE(workspace.use(6 * kMiB + 1).memory.defined());
  });
}

#ifdef __linux__
TEST_CASE(
    "workspace: of the host's memory it has all from the first, so that none is promised twice") {
  test::for_each_device([](Device device) {
    SmallDevice small(device, 160 * kMiB);
    if (small.pool().available() == UINT64_MAX) return;  // memory of its own
    const uint64_t before = resident();
    small.workspace().reserve(128 * kMiB);
    REQUIRE(small.workspace().size() == 128 * kMiB);
    CHECK(resident() >= before + 127 * kMiB);
  });
}

TEST_CASE("workspace: what a device was told to write takes from what is available") {
  test::for_each_device([](Device device) {
    SmallDevice small(device, 160 * kMiB);
    if (small.pool().available() == UINT64_MAX) return;  // memory of its own
    Tensor tensor({32 * static_cast<int64_t>(kMiB)}, DType::f32, device);
    const uint64_t before = resident();
    fill(tensor, 1);
    small.pool().available();
    CHECK(resident() >= before + 127 * kMiB);
  });
}
#endif

TEST_CASE("workspace: gives way to tensors, and is taken again after the next iteration") {
  test::for_each_device([](Device device) {
    SmallDevice small(device, 16 * kMiB);
    Workspace& workspace = small.workspace();
    workspace.register_size(12 * kMiB);
    workspace.end_iteration();
    REQUIRE(workspace.size() == 12 * kMiB);
    Tensor larger = small.tensor(10 * kMiB);  // fits only without the workspace
    CHECK(workspace.size() == 0);
    CHECK(small.pool().account().workspace == 0);
    CHECK(workspace.available() == 0);  // and nothing is taken at once any more
    CHECK_FALSE(workspace.use(64).memory.defined());
    CHECK_THROWS_AS(small.tensor(7 * kMiB), OutOfMemory);
    for (uint64_t bytes : {5 * kMiB, 12 * kMiB}) workspace.register_size(bytes);
    workspace.end_iteration();
    CHECK(workspace.size() == 5 * kMiB);  // smaller: the tensor is still there
    larger = Tensor();
    small.pool().trim();
    workspace.register_size(12 * kMiB);
    workspace.end_iteration();
    CHECK(workspace.size() == 12 * kMiB);
    CHECK(small.pool().account().peak >= 12 * kMiB);
  });
}

TEST_CASE("workspace: a small block is taken when it is first used") {
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

TEST_CASE("workspace: a limit of the user's is kept, and none is none") {
  test::for_each_device([](Device device) {
    SmallDevice small(device, 16 * kMiB);
    Workspace& workspace = small.workspace();
    workspace.set_limit(2 * kMiB);
    CHECK(workspace.available() == 2 * kMiB);
    CHECK(workspace.use(2 * kMiB).memory.defined());
    CHECK_FALSE(workspace.use(2 * kMiB + 1).memory.defined());
    CHECK_FALSE(workspace.allows(2 * kMiB + 1));
    workspace.register_size(4 * kMiB);
    workspace.end_iteration();
    workspace.reserve(4 * kMiB);
    CHECK(workspace.size() == 2 * kMiB);
    workspace.set_limit(0);
    CHECK(workspace.size() == 0);
    CHECK_FALSE(workspace.use(1).memory.defined());
    CHECK(small.pool().account().workspace == 0);
  });
}

TEST_CASE("workspace: what a run had can be taken before its first iteration") {
  test::for_each_device([](Device device) {
    SmallDevice small(device, 16 * kMiB);
    small.workspace().reserve(64 * kMiB);  // more than there is: none
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
    const Workspace::Use use = workspace.use(12 * kMiB);
    other = std::thread([&] {
      const Tensor larger = small.tensor(10 * kMiB);
      allocated = ++order;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(use.memory.bytes() == 12 * kMiB);
    used = ++order;
  }
  other.join();
  CHECK(used == 1);
  CHECK(allocated == 2);
  CHECK(workspace.size() == 0);
}

TEST_CASE("workspace: a solver that runs out of memory keeps the block that it runs with") {
  SmallDevice small(Device::cpu(), 16 * kMiB);
  small.workspace().reserve(12 * kMiB);
  {
    const Workspace::Use use = small.workspace().use(12 * kMiB);
    CHECK_THROWS_AS(small.tensor(10 * kMiB), OutOfMemory);
    CHECK(use.memory.defined());
  }
  CHECK(small.tensor(10 * kMiB).defined());
}

}  // namespace kaiseki
