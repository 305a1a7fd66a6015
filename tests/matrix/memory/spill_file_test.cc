// SPDX-License-Identifier: MIT
#include "matrix/memory/spill_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/error.h"

namespace kaiseki {
namespace {

using Bytes = std::vector<unsigned char>;

CopyRegion region_of(uint64_t row, uint64_t rows, const CopyRegion::RowPlace& block,
                     const CopyRegion::RowPlace& host) {
  CopyRegion region;
  region.row = row;
  region.rows = rows;
  region.block = block;
  region.host = host;
  return region;
}

}  // namespace

// Long rows go past the system's cache in whole blocks, from any address to any place.
TEST_CASE("spill file: rows of any length, address and place, against a copy in memory") {
  constexpr uint64_t kFile = 13'000'003;
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::unique_ptr<SpillPlace> file = make_spill_file(folder, kFile);
  REQUIRE(file);
  Bytes from(kFile), expected(kFile), read(kFile);
  uint32_t state = 1;
  for (unsigned char& byte : from) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<unsigned char>(state >> 24);
  }
  const CopyRegion regions[] = {
      region_of(kFile, 1, {}, {}),
      region_of(262'144, 3, {.first = 4096, .row_pitch = 300'000},
                {.first = 8192, .row_pitch = 262'144}),
      region_of(262'145, 5, {.first = 64, .row_pitch = 262'149},
                {.first = 7, .row_pitch = 1'000'003}),
      region_of(5'000'001, 2, {.first = 1, .row_pitch = 5'500'000},
                {.first = 4095, .row_pitch = 6'000'000}),
      region_of(3, 9, {.first = 11, .row_pitch = 13}, {.first = 4094, .row_pitch = 4096}),
      region_of(300'000, 1, {}, {.first = kFile - 300'000}),
  };
  for (const CopyRegion& region : regions) {
    CAPTURE(region.row);
    std::ranges::reverse(from);
    file->write(from.data(), region);
    region.for_each_row([&](uint64_t in_memory, uint64_t in_file) {
      std::memcpy(expected.data() + in_file, from.data() + in_memory, region.row);
    });
    Bytes part(kFile), expected_part(kFile);
    file->read(part.data(), region);
    region.for_each_row([&](uint64_t in_memory, uint64_t in_file) {
      std::memcpy(expected_part.data() + in_memory, expected.data() + in_file, region.row);
    });
    CHECK(part == expected_part);
    file->flush();
    file->read(read.data(), regions[0]);
    CHECK(read == expected);
  }
}

TEST_CASE("spill file: a read beyond the end is an error") {
  const std::unique_ptr<SpillPlace> file =
      make_spill_file(std::filesystem::temp_directory_path(), 4096);
  REQUIRE(file);
  Bytes bytes(1'000'000);
  CHECK_THROWS_WITH_AS(file->read(bytes.data(), region_of(bytes.size(), 1, {}, {})),
                       doctest::Contains("cannot read a file for tensors"), Error);
}

}  // namespace kaiseki
