// SPDX-License-Identifier: MIT
// Data derived from tensors: it always matches the current contents, and it uses only memory that
// nothing else needs.
#include "matrix/memory/derived_cache.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/copy.h"
#include "tests/matrix/memory/small_device.h"
#include "tests/support/devices.h"

namespace kaiseki {
namespace {

using test::kMiB;
using test::SmallDevice;

constexpr int64_t kCount = 1 << 18;  // floats: four pieces to compare

/// A cache whose maker copies a tensor.
class Keeper : public SmallDevice {
 public:
  using SmallDevice::SmallDevice;

  /// Returns the copy, or an empty vector if there is none.
  std::vector<float> keep(const Tensor& source, int64_t variant = 0) {
    const Workspace::HeldBlock use =
        workspace().use_derived(source, {this, variant, source.bytes()}, [&](Tensor& to) {
          Tensor values = to.reinterpret(DType::f32);
          copy_into(values, source.reshape(values.shape()));
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
};

std::vector<float> all(float value) { return std::vector<float>(kCount, value); }

}  // namespace

TEST_CASE("derived cache: made when contents are used again, and kept until they change") {
  test::for_each_device([](Device device) {
    Keeper keeper(device, 16 * kMiB);
    Tensor source = Tensor::full({kCount}, 3, device);
    CHECK(keeper.keep(source).empty());
    CHECK(keeper.workspace().derived_bytes() == 0);
    CHECK(keeper.keep(source) == all(3));
    CHECK(keeper.keep(source) == all(3));
    CHECK(keeper.made == 1);
    CHECK(keeper.workspace().derived_bytes() >= source.bytes());
    CHECK(keeper.allocator().account().workspace >= keeper.workspace().derived_bytes());
    fill(source, 4);  // the previous contents were used again, so these may be too
    CHECK(keeper.keep(source) == all(4));
    CHECK(keeper.made == 2);
    fill(source, 5);  // the previous contents were not used again
    CHECK(keeper.keep(source).empty());
    CHECK(keeper.workspace().derived_bytes() == 0);
    CHECK(keeper.keep(source) == all(5));
    CHECK(keeper.made == 3);
  });
}

TEST_CASE("derived cache: every write is noticed, and NaN is a value like others") {
  test::for_each_device([](Device device) {
    Keeper keeper(device, 16 * kMiB);
    Tensor source = Tensor::full({kCount}, 1, device);
    const Tensor other = Tensor::full({kCount}, 2, device);
    keeper.keep_thrice(source);
    copy_into(source, other);
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

TEST_CASE("derived cache: on the CPU, writes through an old pointer are noticed too") {
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

TEST_CASE("derived cache: parts of a tensor, shapes, makers and devices have separate entries") {
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

TEST_CASE("derived cache: released for tensors and the block, which stays if that is enough") {
  test::for_each_device([](Device device) {
    Keeper keeper(device, 16 * kMiB);
    Workspace& workspace = keeper.workspace();
    const Tensor source = Tensor::full({kCount}, 1, device);
    workspace.reserve(4 * kMiB);
    keeper.keep_thrice(source);
    REQUIRE(workspace.derived_bytes() >= kMiB);
    { const Tensor large({11 * static_cast<int64_t>(kMiB)}, DType::u8, device); }
    CHECK(workspace.derived_bytes() == 0);
    CHECK(workspace.size() == 4 * kMiB);
    keeper.allocator().trim();
    CHECK(keeper.keep(source) == all(1));
    REQUIRE(workspace.derived_bytes() >= kMiB);
    workspace.request_sizes(std::vector<uint64_t>{15 * kMiB}, {});
    workspace.grow();
    CHECK(workspace.derived_bytes() == 0);
    CHECK(workspace.size() == 15 * kMiB);
    CHECK(keeper.keep(source).empty());  // no room
    const Tensor larger({14 * static_cast<int64_t>(kMiB)}, DType::u8, device);
    CHECK(workspace.size() == 0);
  });
}

TEST_CASE("derived cache: a maker that uses up the room still gets its result") {
  test::for_each_device([](Device device) {
    Keeper keeper(device, 16 * kMiB);
    const Tensor source = Tensor::full({kCount}, 6, device);
    keeper.keep(source);
    const DerivedCache::Form form{&keeper, 0, source.bytes()};
    const Workspace::HeldBlock use = keeper.workspace().use_derived(source, form, [&](Tensor& to) {
      const Tensor scratch({12 * static_cast<int64_t>(kMiB)}, DType::u8, device);
      CHECK_THROWS_AS(Tensor({3 * static_cast<int64_t>(kMiB)}, DType::u8, device)
                          .buffer()
                          .on_device(Access::write),
                      OutOfMemory);
      Tensor values = to.reinterpret(DType::f32);
      copy_into(values, source.reshape(values.shape()));
    });
    CHECK(use.memory.reinterpret(DType::f32).to_vector() == all(6));
    CHECK(keeper.workspace().derived_bytes() == 0);
  });
}

TEST_CASE("derived cache: at most a quarter of the device's memory") {
  test::for_each_device([](Device device) {
    Keeper keeper(device, 32 * kMiB);
    const uint64_t quarter = keeper.allocator().account().budget / 4;
    const uint64_t each = device.is_cpu() ? 2 * kMiB : kMiB;  // the CPU keeps a copy of the source
    std::vector<Tensor> sources;
    uint64_t kept = 0;
    for (int i = 0; i < 12; ++i) {
      sources.push_back(Tensor::full({kCount}, 1, device));
      if (!keeper.keep_thrice(sources.back()).empty()) ++kept;
      CHECK(keeper.workspace().derived_bytes() <= quarter);
    }
    CHECK(kept == quarter / each);
    CHECK(kept < sources.size());
  });
}

TEST_CASE("derived cache: nothing under a user's limit, nor for tensors that no longer exist") {
  test::for_each_device([](Device device) {
    Keeper keeper(device, 16 * kMiB);
    Workspace& workspace = keeper.workspace();
    Tensor source = Tensor::full({kCount}, 1, device);
    keeper.keep_thrice(source);
    workspace.set_limit(8 * kMiB);
    CHECK(workspace.derived_bytes() == 0);
    CHECK(keeper.keep_thrice(source).empty());
    workspace.set_limit({});
    keeper.keep_thrice(source);
    CHECK(workspace.derived_bytes() > 0);
    source = Tensor();
    workspace.grow();
    CHECK(workspace.derived_bytes() == 0);
    CHECK(keeper.allocator().account().workspace == 0);
  });
}

}  // namespace kaiseki
