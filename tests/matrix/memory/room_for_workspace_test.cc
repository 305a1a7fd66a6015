// SPDX-License-Identifier: MIT
// Tensors leave the device to make room for the workspace.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "matrix/memory/allocator.h"
#include "matrix/memory/buffer.h"
#include "matrix/memory/workspace.h"
#include "tests/matrix/memory/small_device.h"
#include "tests/support/devices.h"
#include "tests/support/simulated_link.h"
#include "tests/support/spill.h"

namespace kaiseki {
namespace {

using test::kMiB;
using test::SmallDevice;

/// Lets one tensor leave the device at a time.
class LeavingTensors : public Evictor {
 public:
  explicit LeavingTensors(const SmallDevice& small) : allocator_(small.allocator()) {
    allocator_.add_evictor(*this);
  }
  ~LeavingTensors() override { allocator_.remove_evictor(*this); }
  LeavingTensors(const LeavingTensors&) = delete;
  bool evict(uint64_t) override {
    for (Tensor& tensor : tensors)
      if (!tensor.buffer().left_device()) {
        tensor.buffer().leave_device();
        return true;
      }
    return false;
  }
  void add_idle(IdleBuffers& to) const override {
    for (const Tensor& tensor : tensors)
      to[&tensor.buffer()] = {.on_device = tensor.buffer().left_device() ? 0 : tensor.bytes(),
                              .all = tensor.bytes()};
  }
  std::vector<Tensor> tensors;

 private:
  Allocator& allocator_;
};

}  // namespace

TEST_CASE("workspace: it takes room from tensors that can leave, and keeps an eighth") {
  const test::SimulatedLink link(1e12);
  test::for_each_device([](Device device) {
    const SmallDevice small(device, 64 * kMiB);
    LeavingTensors leaving(small);
    for (int i = 0; i < 15; ++i) leaving.tensors.push_back(small.tensor(4 * kMiB));
    Workspace& workspace = small.workspace();
    small.allocator().reset_peak();
    CHECK(small.allocator().account().in_use >= 60 * kMiB);
    CHECK(workspace.use(4 * kMiB).memory.defined());
    CHECK(small.allocator().account().peak <= small.allocator().account().budget);
    const Tensor more = small.tensor(16 * kMiB);  // several tensors leave, the workspace stays
    CHECK(workspace.size() == 4 * kMiB);
    CHECK(leaving.tensors[2].buffer().left_device());
    leaving.tensors.clear();
    // If no tensor can leave, the workspace is released.
    const Tensor last = small.tensor(small.allocator().account().budget -
                                     small.allocator().account().in_use - kMiB);
    CHECK(workspace.size() == 0);
  });
}

TEST_CASE("workspace: a full store leaves convolutions without one") {
  const test::WithSpillStore full([](uint64_t) { return nullptr; });
  const SmallDevice small(Device::cpu(), 64 * kMiB);
  LeavingTensors leaving(small);
  for (int i = 0; i < 16; ++i) leaving.tensors.push_back(small.tensor(4 * kMiB));
  CHECK_FALSE(small.workspace().use(4 * kMiB).memory.defined());
  CHECK_FALSE(leaving.tensors[0].buffer().left_device());
}

TEST_CASE("workspace: no tensor leaves if that would not be enough, until others need less") {
  const test::SimulatedLink link(1e12);
  const SmallDevice small(Device::cpu(), 64 * kMiB);
  LeavingTensors leaving(small);
  Tensor stays = small.tensor(58 * kMiB);
  leaving.tensors.push_back(small.tensor(4 * kMiB));
  CHECK_FALSE(small.workspace().use(7 * kMiB).memory.defined());
  CHECK_FALSE(leaving.tensors[0].buffer().left_device());
  stays = Tensor();
  stays = small.tensor(54 * kMiB);
  CHECK(small.workspace().use(7 * kMiB).memory.defined());
  CHECK(leaving.tensors[0].buffer().left_device());
}

TEST_CASE("workspace: only as many tensors leave as it needs") {
  const test::SimulatedLink link(1e12);
  const SmallDevice small(Device::cpu(), 64 * kMiB);
  LeavingTensors leaving(small);
  CHECK(small.workspace().use(3 * kMiB).memory.defined());
  for (int i = 0; i < 60; ++i) leaving.tensors.push_back(small.tensor(kMiB));
  CHECK(small.workspace().use(4 * kMiB).memory.defined());  // in place of the 3 MiB
  const auto left = std::ranges::count_if(
      leaving.tensors, [](const Tensor& tensor) { return tensor.buffer().left_device(); });
  CHECK(left <= 1);
}

}  // namespace kaiseki
