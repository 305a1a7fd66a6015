// SPDX-License-Identifier: MIT
// The memory of a GPU under a budget: large blocks that are divided and rarely released.
#include <doctest/doctest.h>

#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "matrix/memory/allocator.h"
#include "matrix/random.h"

namespace kaiseki {
namespace {

constexpr uint64_t kKilo = 1 << 10, kMega = 1 << 20, kAlignment = 4096;

/// Blocks and parts are numbers, as nothing reads them.
class GpuMemory : public RawMemory {
 public:
  void* allocate(uint64_t bytes) override {
    if (bytes > refused_from) return nullptr;
    held += bytes;
    void* block = next();
    blocks[block].bytes = bytes;
    return block;
  }
  void release(void* block) noexcept override {
    CHECK(blocks.at(block).parts.empty());
    held -= blocks.at(block).bytes;
    blocks.erase(block);
    ++releases;
  }
  std::optional<BlockDivision> division() const override {
    return BlockDivision{.alignment = kAlignment, .largest_block = largest};
  }
  void* part(void* block, uint64_t offset, uint64_t bytes) override {
    if (refuses_parts) return nullptr;
    Block& of = blocks.at(block);
    REQUIRE(offset % kAlignment == 0);
    REQUIRE(offset + bytes <= of.bytes);
    const auto after = of.parts.lower_bound(offset);
    REQUIRE((after == of.parts.end() || offset + bytes <= after->first));
    if (after != of.parts.begin())
      REQUIRE(std::prev(after)->first + std::prev(after)->second <= offset);
    of.parts[offset] = bytes;
    void* made = next();
    places[made] = {block, offset};
    return made;
  }
  void release_part(void* part) noexcept override {
    const auto [block, offset] = places.at(part);
    blocks.at(block).parts.erase(offset);
    places.erase(part);
  }
  void discard(void*, uint64_t) noexcept override { FAIL("this memory cannot be discarded"); }

  struct Block {
    uint64_t bytes = 0;
    std::map<uint64_t, uint64_t> parts;  // sizes by offset
  };
  std::map<void*, Block> blocks;
  std::map<void*, std::pair<void*, uint64_t>> places;
  uint64_t held = 0, largest = UINT64_MAX, refused_from = UINT64_MAX;
  int releases = 0;
  bool refuses_parts = false;

 private:
  void* next() { return reinterpret_cast<void*>(kAlignment * ++made_); }
  uintptr_t made_ = 0;
};

/// A layer makes one tensor from earlier ones.
struct LayerSize {
  std::vector<size_t> inputs;
  uint64_t bytes;
};

std::vector<LayerSize> resnet50(uint64_t batch) {
  std::vector<LayerSize> layers;
  const auto add = [&](std::vector<size_t> inputs, uint64_t channels, uint64_t side) {
    layers.push_back({std::move(inputs), 4 * batch * channels * side * side});
    return layers.size() - 1;
  };
  size_t x = add({}, 3, 224);
  x = add({add({add({x}, 64, 112)}, 64, 112)}, 64, 56);
  for (const auto& [blocks, channels, side] :
       {std::array<uint64_t, 3>{3, 64, 56}, {4, 128, 28}, {6, 256, 14}, {3, 512, 7}})
    for (uint64_t i = 0; i < blocks; ++i) {
      size_t y = x;
      for (const uint64_t width : {channels, channels, 4 * channels})
        y = add({add({y}, width, side)}, width, side);
      if (i == 0) x = add({add({x}, 4 * channels, side)}, 4 * channels, side);
      x = add({x, y}, 4 * channels, side);
    }
  return layers;
}

/// Allocates as a training does. Tensors that do not fit leave the device.
class Training : public Evictor {
 public:
  Training(Allocator& memory, std::vector<LayerSize> layers)
      : memory_(memory), layers_(std::move(layers)), values_(layers_.size()), gradients_(values_) {
    for (size_t i = 0; i < layers_.size(); ++i)
      values_[i].bytes = gradients_[i].bytes = layers_[i].bytes;
    memory_.add_evictor(*this);
  }
  ~Training() override { memory_.remove_evictor(*this); }

  void step() {
    for (size_t i = 0; i < layers_.size(); ++i) {
      begin(i);
      use(values_[i]);
    }
    use(gradients_.back());
    for (size_t i = layers_.size(); i-- > 0;) {
      begin(i);
      use(values_[i]);
      use(gradients_[i]);
      for (size_t input : layers_[i].inputs) use(gradients_[input]);
      drop(values_[i]);
      drop(gradients_[i]);
    }
  }
  uint64_t moved = 0;  // bytes

 private:
  struct Place {
    void* block = nullptr;
    uint64_t bytes = 0;
    void* statistics = nullptr;  // a small tensor
  };

  void begin(size_t layer) {
    kept_ = {&values_[layer], &gradients_[layer]};
    for (size_t input : layers_[layer].inputs) kept_.insert({&values_[input], &gradients_[input]});
    for (size_t input : layers_[layer].inputs) use(values_[input]);
  }
  void use(Place& place) {
    if (!place.block) place.block = memory_.allocate(place.bytes);
    if (!place.statistics) place.statistics = memory_.allocate(2048);
  }
  void drop(Place& place) {
    memory_.release(std::exchange(place.block, nullptr), place.bytes);
    memory_.release(std::exchange(place.statistics, nullptr), 2048);
  }
  bool evict(uint64_t bytes) override {
    uint64_t released = 0;
    for (auto* places : {&values_, &gradients_})
      for (Place& place : *places)  // the backward pass reads the first ones last
        if (released < bytes && place.block && !kept_.contains(&place)) {
          memory_.release(std::exchange(place.block, nullptr), place.bytes);
          released += place.bytes;
        }
    moved += released;
    return released > 0;
  }

  Allocator& memory_;
  std::vector<LayerSize> layers_;
  std::vector<Place> values_, gradients_;
  std::set<const Place*> kept_;
};

}  // namespace

TEST_CASE("a training under a budget releases no block after its first steps") {
  for (const uint64_t percent : {30, 40, 50, 70, 90, 120}) {
    CAPTURE(percent);
    const std::vector<LayerSize> layers = resnet50(16);
    uint64_t all = 0;
    for (const LayerSize& layer : layers) all += layer.bytes;
    const uint64_t budget = all * percent / 100;
    GpuMemory raw;
    Allocator allocator("test", raw, budget);
    Training training(allocator, layers);
    training.step();
    training.step();
    const int releases = raw.releases;
    for (int i = 0; i < 5; ++i) training.step();
    CHECK(raw.releases == releases);
    CHECK((training.moved > 0) == (percent < 100));
    const MemoryAccount account = allocator.account();
    CHECK(account.peak <= budget);
    CHECK(account.in_use == 0);
    CHECK(account.cached == raw.held);
  }
}

TEST_CASE("after random sizes under a budget, the account is right and nothing is lost") {
  GpuMemory raw;
  const uint64_t budget = 64 * kMega;
  Allocator allocator("test", raw, budget);
  std::vector<std::pair<void*, uint64_t>> parts;
  Random random(7);
  for (int i = 0; i < 5'000; ++i) {
    if (random.below(2) || parts.empty()) {
      const uint64_t bytes = 1 + random.below(random.below(3) ? 3 * kMega : 2 * kKilo);
      const uint64_t before = allocator.account().in_use;
      try {
        parts.emplace_back(allocator.allocate(bytes), bytes);
        CHECK(allocator.account().in_use >= before + bytes);
      } catch (const OutOfMemory&) {
        CHECK(allocator.account().in_use == before);
      }
    } else {
      std::swap(parts[random.below(parts.size())], parts.back());
      allocator.release(parts.back().first, parts.back().second);
      parts.pop_back();
    }
    const MemoryAccount account = allocator.account();
    REQUIRE(account.in_use + account.cached == raw.held);
    REQUIRE(account.peak <= budget);
  }
  for (const auto& [block, bytes] : parts) allocator.release(block, bytes);
  CHECK(allocator.account().in_use == 0);
  CHECK(raw.places.empty());
  allocator.trim();
  CHECK((raw.held == 0 && allocator.account().cached == 0));
}

TEST_CASE("a GPU's blocks are divided only under a budget, and a budget may change meanwhile") {
  GpuMemory raw;
  Allocator allocator("test", raw, {});
  void* whole = allocator.allocate(kMega);
  CHECK(raw.blocks.at(whole).bytes == kMega);
  allocator.set_budget(64 * kMega);
  void* part = allocator.allocate(kMega);
  CHECK(raw.places.contains(part));
  CHECK(raw.held == 2 * kMega);
  allocator.release(whole, kMega);
  void* workspace = allocator.allocate_unused(kMega + 1);
  CHECK(allocator.account().workspace == allocator.rounded_unused(kMega + 1));
  allocator.set_budget({});
  allocator.release(part, kMega);
  allocator.release_unused(workspace, kMega + 1);
  CHECK(allocator.account().in_use == 0);
  CHECK(allocator.account().workspace == 0);
  allocator.trim();
  CHECK(raw.held == 0);
}

TEST_CASE("parts begin at the device's alignment") {
  GpuMemory raw;
  Allocator allocator("test", raw, 64 * kMega);
  allocator.release(allocator.allocate(8 * kMega), 8 * kMega);
  std::vector<void*> parts;
  for (const uint64_t bytes : {kMega + 1, kMega - 1, kMega + 4097})
    parts.push_back(allocator.allocate(bytes));
  CHECK(raw.blocks.size() == 1);
  CHECK(allocator.account().in_use == 3 * kMega + 3 * kAlignment);
  CHECK(allocator.rounded(kMega + 1) == kMega + kAlignment);
  allocator.release(parts[0], kMega + 1);
  allocator.release(parts[1], kMega - 1);
  allocator.release(parts[2], kMega + 4097);
}

TEST_CASE("small tensors find room although divided blocks hold the whole budget") {
  GpuMemory raw;
  Allocator allocator("test", raw, 16 * kMega);
  std::vector<void*> parts;
  while (allocator.has_room_for(kMega)) parts.push_back(allocator.allocate(kMega));
  CHECK(parts.size() == 16);
  CHECK_THROWS_AS(allocator.allocate(100), OutOfMemory);
  allocator.release(parts.back(), kMega);
  const int releases = raw.releases;
  void* pin = allocator.allocate(kMega - kAlignment);
  void* small = allocator.allocate(100);
  CHECK(raw.places.contains(small));
  CHECK(allocator.account().in_use == 16 * kMega);
  CHECK(raw.releases == releases);
  allocator.release(small, 100);
  allocator.release(pin, kMega - kAlignment);
  parts.pop_back();
  for (void* part : parts) allocator.release(part, kMega);
  CHECK(allocator.account().in_use == 0);
}

TEST_CASE("free blocks are released only if this makes enough room") {
  GpuMemory raw;
  Allocator allocator("test", raw, 64 * kMega);
  allocator.release(allocator.allocate(8 * kMega), 8 * kMega);
  std::vector<void*> parts;
  for (int i = 0; i < 64; ++i) parts.push_back(allocator.allocate(kMega));
  const size_t blocks = raw.blocks.size();
  for (int i = 0; i < 64; ++i)
    if (i % 8 < 4) allocator.release(parts[static_cast<size_t>(i)], kMega);
  CHECK_THROWS_AS(allocator.allocate(5 * kMega), OutOfMemory);
  CHECK(raw.releases == 0);
  for (int i = 0; i < 16; ++i)
    if (i % 8 >= 4) allocator.release(parts[static_cast<size_t>(i)], kMega);
  void* large = allocator.allocate(12 * kMega);  // larger than a block
  CHECK(raw.releases == 2);
  CHECK(raw.blocks.size() == blocks - 1);
  CHECK(allocator.account().in_use == (64 - 16 - 24 + 12) * kMega);
  allocator.release(large, 12 * kMega);
  for (int i = 16; i < 64; ++i)
    if (i % 8 >= 4) allocator.release(parts[static_cast<size_t>(i)], kMega);
}

TEST_CASE("a tensor of more than an eighth of the budget has a block of its own, as others then") {
  GpuMemory raw;
  Allocator allocator("test", raw, 64 * kMega);
  void* large = allocator.allocate(9 * kMega);
  void* other = allocator.allocate(kMega);
  CHECK(raw.places.empty());
  allocator.release(large, 9 * kMega);
  allocator.release(other, kMega);
  CHECK(allocator.account().cached == 10 * kMega);
  void* most = allocator.allocate(64 * kMega);
  CHECK(raw.held == 64 * kMega);
  allocator.release(most, 64 * kMega);
}

TEST_CASE("if the device refuses a large block, a tensor has a smaller one") {
  GpuMemory raw;
  Allocator allocator("test", raw, 64 * kMega);
  allocator.release(allocator.allocate(8 * kMega), 8 * kMega);
  allocator.trim();
  raw.refused_from = 2 * kMega;
  void* part = allocator.allocate(kMega);
  CHECK(raw.held == kMega);
  raw.refused_from = 0;
  CHECK_THROWS_AS(allocator.allocate(kMega), OutOfMemory);
  raw.refused_from = UINT64_MAX;
  raw.refuses_parts = true;
  CHECK_THROWS_AS(allocator.allocate(kMega), OutOfMemory);
  raw.refuses_parts = false;
  CHECK(allocator.account().in_use == kMega);
  allocator.release(part, kMega);
  allocator.trim();
  CHECK(raw.held == 0);
  raw.largest = 3 * kMega;
  part = allocator.allocate(kMega);
  CHECK(raw.held == 3 * kMega);
  allocator.release(part, kMega);
}

}  // namespace kaiseki
