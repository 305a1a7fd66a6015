// SPDX-License-Identifier: MIT
// What is kept of tensors: never of other contents than they have, and only in memory that nobody
// needs.
#include "matrix/memory/kept.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "matrix/error.h"
#include "matrix/memory/pool.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/copy.h"
#include "tests/support/devices.h"

namespace kaiseki {
namespace {

constexpr int64_t kCount = 1 << 18;  // floats: four pieces to compare
constexpr uint64_t kMiB = 1 << 20;

/// A device with so many bytes, and a maker that copies a tensor.
class Keeper {
 public:
  Keeper(Device device, uint64_t bytes) : device_(device) {
    workspace().set_limit({});
    pool().trim();
    pool().set_budget(pool().account().in_use + bytes);
  }
  ~Keeper() {
    pool().set_budget({});
    workspace().set_limit({});
  }
  Workspace& workspace() const { return device_.workspace(); }
  MemoryPool& pool() const { return device_.memory(); }

  /// The copy, or nothing.
  std::vector<float> keep(const Tensor& source, int64_t variant = 0) {
    const Workspace::Use use =
        workspace().keep(source, {this, variant, source.bytes()}, [&](Tensor& to) {
          Tensor values = to.reinterpret(DType::f32);
          copy(source.reshape(values.shape()), values);
          ++made;
        });
    if (!use.memory.defined()) return {};
    return use.memory.reinterpret(DType::f32).to_vector();
  }
  std::vector<float> keep_thrice(const Tensor& source, int64_t variant = 0) {
    keep(source, variant), keep(source, variant);
    return keep(source, variant);
  }

  int made = 0;

 private:
  Device device_;
};

std::vector<float> all(float value) { return std::vector<float>(kCount, value); }

}  // namespace

TEST_CASE("kept: made when contents are met again, and not anew as long as they stay") {
  test::for_each_device([](Device device) {
    Keeper keeper(device, 16 * kMiB);
    Tensor source = Tensor::full({kCount}, 3, device);
    CHECK(keeper.keep(source).empty());
    CHECK(keeper.workspace().kept_bytes() == 0);
    CHECK(keeper.keep(source) == all(3));
    CHECK(keeper.keep(source) == all(3));
    CHECK(keeper.made == 1);
    CHECK(keeper.workspace().kept_bytes() >= source.bytes());
    CHECK(keeper.pool().account().workspace >= keeper.workspace().kept_bytes());
    fill(source, 4);  // the contents before were met again: so may be these
    CHECK(keeper.keep(source) == all(4));
    CHECK(keeper.made == 2);
    fill(source, 5);  // they were not
    CHECK(keeper.keep(source).empty());
    CHECK(keeper.workspace().kept_bytes() == 0);
    CHECK(keeper.keep(source) == all(5));
    CHECK(keeper.made == 3);
  });
}

TEST_CASE("kept: whoever writes is seen, and NaN is a value like others") {
  test::for_each_device([](Device device) {
    Keeper keeper(device, 16 * kMiB);
    Tensor source = Tensor::full({kCount}, 1, device);
    const Tensor other = Tensor::full({kCount}, 2, device);
    keeper.keep_thrice(source);
    copy(other, source);
    CHECK(keeper.keep_thrice(source) == all(2));
    source.mutable_data<float>()[kCount - 1] = 7;  // on the host
    CHECK(keeper.keep_thrice(source).back() == 7);
    Tensor part = source.slice(0, 5, 1);
    fill(part, NAN);
    const int made = keeper.made;
    const std::vector<float> values = keeper.keep_thrice(source);
    CHECK(std::isnan(values[5]));
    CHECK(values[4] == 2);
    CHECK(keeper.made == made + 1);  // its bits are the same each time
    fill(part, 2);
    CHECK(keeper.keep_thrice(source)[5] == 2);
  });
}

TEST_CASE("kept: on the CPU a pointer that was held for long is seen too") {
  Keeper keeper(Device::cpu(), 16 * kMiB);
  Tensor source = Tensor::full({kCount}, 1, Device::cpu());
  float* held = source.mutable_data<float>();
  keeper.keep_thrice(source);
  for (int64_t at : {int64_t{0}, kCount / 2, kCount - 1}) {
    held[at] = 9;
    CHECK(keeper.keep(source)[static_cast<size_t>(at)] == 9);
    held[at] = NAN;
    CHECK(std::isnan(keeper.keep(source)[static_cast<size_t>(at)]));
    held[at] = -0.0f;
    keeper.keep(source);
    held[at] = 0.0f;
    CHECK_FALSE(std::signbit(keeper.keep(source)[static_cast<size_t>(at)]));
  }
}

TEST_CASE("kept: parts of a tensor, other shapes' makers and other devices are apart") {
  test::for_each_device([](Device device) {
    Keeper keeper(device, 64 * kMiB);
    Tensor both = Tensor::full({2, kCount}, 1, device);
    Tensor first = both.slice(0, 0, 1), second = both.slice(0, 1, 1);
    fill(second, 2);
    CHECK(keeper.keep_thrice(first) == all(1));
    CHECK(keeper.keep_thrice(second) == all(2));
    CHECK(keeper.made == 2);
    CHECK(keeper.keep(second, 1).empty());
    CHECK(keeper.keep(second, 1) == all(2));
    CHECK(keeper.made == 3);
    CHECK(keeper.keep(first) == all(1));
    CHECK(keeper.made == 3);
  });
  const std::vector<Device> devices = test::all_devices();
  if (devices.size() < 2) return;
  Keeper here(devices[0], 16 * kMiB), there(devices[1], 16 * kMiB);
  Tensor a = Tensor::full({kCount}, 1, devices[0]), b = a.to(devices[1]);
  here.keep_thrice(a), there.keep_thrice(b);
  fill(b, 2);
  CHECK(there.keep(b) == all(2));
  CHECK(here.keep(a) == all(1));
  CHECK(here.made == 1);
}

TEST_CASE("kept: gives way to tensors and to the block, which stays when that is enough") {
  test::for_each_device([](Device device) {
    Keeper keeper(device, 16 * kMiB);
    Workspace& workspace = keeper.workspace();
    const Tensor source = Tensor::full({kCount}, 1, device);
    workspace.reserve(4 * kMiB);
    keeper.keep_thrice(source);
    REQUIRE(workspace.kept_bytes() >= kMiB);
    { const Tensor large({11 * static_cast<int64_t>(kMiB)}, DType::u8, device); }
    CHECK(workspace.kept_bytes() == 0);
    CHECK(workspace.size() == 4 * kMiB);
    keeper.pool().trim();
    CHECK(keeper.keep(source) == all(1));
    REQUIRE(workspace.kept_bytes() >= kMiB);
    workspace.register_size(15 * kMiB);
    workspace.end_iteration();
    CHECK(workspace.kept_bytes() == 0);
    CHECK(workspace.size() == 15 * kMiB);
    CHECK(keeper.keep(source).empty());  // no room
    const Tensor larger({14 * static_cast<int64_t>(kMiB)}, DType::u8, device);
    CHECK(workspace.size() == 0);
  });
}

TEST_CASE("kept: a maker that takes the room still gets what it made") {
  test::for_each_device([](Device device) {
    Keeper keeper(device, 16 * kMiB);
    const Tensor source = Tensor::full({kCount}, 6, device);
    keeper.keep(source);
    const Kept::Form form{&keeper, 0, source.bytes()};
    const Workspace::Use use = keeper.workspace().keep(source, form, [&](Tensor& to) {
      const Tensor scratch({12 * static_cast<int64_t>(kMiB)}, DType::u8, device);
      CHECK_THROWS_AS(Tensor({3 * static_cast<int64_t>(kMiB)}, DType::u8, device), OutOfMemory);
      Tensor values = to.reinterpret(DType::f32);
      copy(source.reshape(values.shape()), values);
    });
    CHECK(use.memory.reinterpret(DType::f32).to_vector() == all(6));
    CHECK(keeper.workspace().kept_bytes() == 0);
  });
}

TEST_CASE("kept: never more than a quarter of the device's memory") {
  test::for_each_device([](Device device) {
    Keeper keeper(device, 32 * kMiB);
    const uint64_t quarter = keeper.pool().account().budget / 4;
    const uint64_t each = device.is_cpu() ? 2 * kMiB : kMiB;  // the CPU keeps a copy of the source
    std::vector<Tensor> sources;
    uint64_t kept = 0;
    for (int i = 0; i < 12; ++i) {
      sources.push_back(Tensor::full({kCount}, 1, device));
      if (!keeper.keep_thrice(sources.back()).empty()) ++kept;
      CHECK(keeper.workspace().kept_bytes() <= quarter);
    }
    CHECK(kept == quarter / each);
    CHECK(kept < sources.size());
  });
}

TEST_CASE("kept: nothing under a limit of the user's, nor of tensors that are no more") {
  test::for_each_device([](Device device) {
    Keeper keeper(device, 16 * kMiB);
    Workspace& workspace = keeper.workspace();
    Tensor source = Tensor::full({kCount}, 1, device);
    keeper.keep_thrice(source);
    workspace.set_limit(8 * kMiB);
    CHECK(workspace.kept_bytes() == 0);
    CHECK(keeper.keep_thrice(source).empty());
    workspace.set_limit({});
    keeper.keep_thrice(source);
    CHECK(workspace.kept_bytes() > 0);
    source = Tensor();
    workspace.end_iteration();
    CHECK(workspace.kept_bytes() == 0);
    CHECK(keeper.pool().account().workspace == 0);
  });
}

}  // namespace kaiseki
