// SPDX-License-Identifier: MIT
// Parts of a block inherit the uses of earlier parts at the same bytes.
#include "matrix/backend/opencl/block_uses.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "matrix/random.h"

namespace kaiseki::opencl {
namespace {

cl_mem memory(uintptr_t number) { return reinterpret_cast<cl_mem>(number * 64); }

SharedEvent event(uintptr_t number) {
  return {reinterpret_cast<cl_event>(number * 64), [](cl_event) {}};
}

bool has(const BlockUse& use, const SharedEvent& download) {
  return std::ranges::find(use.downloads, download) != use.downloads.end();
}

}  // namespace

TEST_CASE("block uses: a part inherits from all earlier parts that it overlaps") {
  BlockUses uses;
  const cl_mem block = memory(1), other = memory(2);
  const SharedEvent first = event(1), second = event(2), third = event(3);
  uses.add_part(memory(11), block, 0, 100);
  uses.add_part(memory(12), block, 100, 100);
  uses.add_part(memory(13), other, 0, 200);
  uses[memory(11)] = {7, {first}};
  uses[memory(12)] = {5, {second}};
  uses[memory(13)] = {9, {third}};
  for (uintptr_t part : {11, 12, 13}) CHECK(uses.remove_part(memory(part)));
  CHECK_FALSE(uses.remove_part(memory(11)));

  uses.add_part(memory(14), block, 50, 100);
  CHECK(uses[memory(14)].last == 7);
  CHECK((has(uses[memory(14)], first) && has(uses[memory(14)], second)));
  CHECK_FALSE(has(uses[memory(14)], third));
  uses.add_part(memory(15), block, 150, 100);  // begins in the second, ends behind it
  CHECK(uses[memory(15)].last == 5);
  CHECK(uses[memory(15)].downloads == std::vector{second});
  uses.add_part(memory(16), block, 0, 50);
  CHECK(uses[memory(16)].last == 7);
  uses.add_part(memory(17), block, 250, 50);
  CHECK_FALSE(uses[memory(17)].last.has_value());
  CHECK(uses.regions() == 1);  // of the other block
}

TEST_CASE("block uses: a released block is forgotten with its regions") {
  BlockUses uses;
  uses[memory(1)].last = 3;
  uses.add_part(memory(11), memory(1), 0, 64);
  uses.add_part(memory(12), memory(2), 0, 64);
  uses[memory(11)].last = uses[memory(12)].last = 4;
  uses.remove_part(memory(11));
  uses.remove_part(memory(12));
  uses.remove(memory(1));
  CHECK(uses.regions() == 1);
  CHECK_FALSE(uses[memory(1)].last.has_value());
  uses.add_part(memory(11), memory(1), 0, 64);
  CHECK_FALSE(uses[memory(11)].last.has_value());
  uses.add_part(memory(12), memory(2), 32, 1);
  CHECK(uses[memory(12)].last == 4);
}

TEST_CASE("block uses: after random parts, each byte's last use is known and regions are few") {
  constexpr size_t kBytes = 64;
  BlockUses uses;
  struct Part {
    cl_mem name;
    size_t offset, bytes;
  };
  std::vector<Part> parts;
  std::vector<uint64_t> last(kBytes);
  std::vector<bool> taken(kBytes);
  Random random(3);
  size_t most_regions = 0;
  for (uint64_t step = 1; step < 5'000; ++step) {
    const size_t offset = random.below(kBytes), bytes = 1 + random.below(kBytes - offset);
    const auto at = [&](auto& bytes_of) { return bytes_of.begin() + static_cast<long>(offset); };
    if (std::find(at(taken), at(taken) + static_cast<long>(bytes), true) ==
        at(taken) + static_cast<long>(bytes)) {
      const Part part{memory(100 + step), offset, bytes};
      uses.add_part(part.name, memory(1), offset, bytes);
      const uint64_t expected = *std::max_element(at(last), at(last) + static_cast<long>(bytes));
      REQUIRE(uses[part.name].last.value_or(0) == expected);
      uses[part.name].last = step;
      for (size_t i = offset; i < offset + bytes; ++i) taken[i] = true, last[i] = step;
      parts.push_back(part);
    } else if (!parts.empty()) {
      std::swap(parts[random.below(parts.size())], parts.back());
      const Part part = parts.back();
      parts.pop_back();
      uses.remove_part(part.name);
      for (size_t i = part.offset; i < part.offset + part.bytes; ++i) taken[i] = false;
    }
    most_regions = std::max(most_regions, uses.regions());
  }
  CHECK(most_regions <= kBytes);
}

}  // namespace kaiseki::opencl
