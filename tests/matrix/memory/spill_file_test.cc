// SPDX-License-Identifier: MIT
#include "matrix/memory/spill_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/folder.h"

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

/// Writes and reads rows of any length, address and place, against a copy in memory.
void check_rows(SpillPlace& file, uint64_t bytes) {
  Bytes from(bytes), expected(bytes), read(bytes);
  uint32_t state = 1;
  for (unsigned char& byte : from) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<unsigned char>(state >> 24);
  }
  const CopyRegion regions[] = {
      region_of(bytes, 1, {}, {}),
      region_of(262'144, 3, {.first = 4096, .row_pitch = 300'000},
                {.first = 8192, .row_pitch = 262'144}),
      region_of(262'145, 5, {.first = 64, .row_pitch = 262'149},
                {.first = 7, .row_pitch = 1'000'003}),
      region_of(5'000'001, 2, {.first = 1, .row_pitch = 5'500'000},
                {.first = 4095, .row_pitch = 6'000'000}),
      region_of(3, 9, {.first = 11, .row_pitch = 13}, {.first = 4094, .row_pitch = 4096}),
      region_of(300'000, 1, {}, {.first = bytes - 300'000}),
  };
  for (const CopyRegion& region : regions) {
    CAPTURE(region.row);
    std::ranges::reverse(from);
    file.write(from.data(), region);
    region.for_each_row([&](uint64_t in_memory, uint64_t in_file) {
      std::memcpy(expected.data() + in_file, from.data() + in_memory, region.row);
    });
    Bytes part(bytes), expected_part(bytes);
    file.read(part.data(), region);
    region.for_each_row([&](uint64_t in_memory, uint64_t in_file) {
      std::memcpy(expected_part.data() + in_memory, expected.data() + in_file, region.row);
    });
    CHECK(part == expected_part);
    file.flush();
    file.read(read.data(), regions[0]);
    CHECK(read == expected);
  }
}

constexpr uint64_t kFile = 13'000'003;

/// The descriptors of this process that go past the system's cache.
int direct_descriptors() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    const int flags = ::fcntl(descriptor, F_GETFL);
    count += flags >= 0 && (flags & O_DIRECT);
  }
  return count;
}

/// The limit of descriptors for the lifetime of this.
class WithDescriptors {
 public:
  explicit WithDescriptors(rlim_t most) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit less{most, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &less);
  }
  ~WithDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  WithDescriptors(const WithDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("spill file: rows go to the file and come back") {
  // The second folder is in memory. Older systems have no direct files there.
  for (const std::filesystem::path& folder :
       {std::filesystem::temp_directory_path(), std::filesystem::path("/dev/shm")}) {
    CAPTURE(folder);
    if (!std::filesystem::is_directory(folder)) continue;
    const std::unique_ptr<SpillPlace> file = make_spill_file(folder, kFile);
    REQUIRE(file);
    check_rows(*file, kFile);
  }
}

TEST_CASE("spill file: goes past the system's cache while there are descriptors") {
  const test::Folder folder;
  const int before = direct_descriptors();
  const std::string name = folder / "probe";
  const int probe = ::open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_DIRECT, 0600);
  const bool can = probe >= 0;
  if (can) ::close(probe);
  const int next = ::open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ::close(next);
  {
    const std::unique_ptr<SpillPlace> file = make_spill_file(folder.path, kFile);
    REQUIRE(file);
    CHECK(direct_descriptors() == before + can);
  }
  const WithDescriptors few(static_cast<rlim_t>(2 * next));  // the file would be in the upper half
  const std::unique_ptr<SpillPlace> file = make_spill_file(folder.path, kFile);
  REQUIRE(file);
  CHECK(direct_descriptors() == before);
  check_rows(*file, kFile);
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
