// SPDX-License-Identifier: MIT
// Programs on disk are found again and replaced if damaged. The oldest are removed.
#include "matrix/backend/opencl/program_cache.h"

#include <chrono>
#include <fstream>

#include "base/cache_file.h"
#include "tests/matrix/backend/opencl/support.h"

namespace kaiseki::opencl {
namespace {

std::vector<std::filesystem::path> binaries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (auto& entry : std::filesystem::directory_iterator(folder / "opencl"))
    if (entry.path().extension() == ".bin") files.push_back(entry.path());
  return files;
}

}  // namespace

TEST_CASE("opencl program cache: a program is built once, then read from disk") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::CacheFolder folder("programs");
  OpenclDevice& device = backend->opencl();
  auto fresh = [&](uint64_t limit) {
    auto cache = std::make_unique<ProgramCache>(device.facts(), device.label(), device.context());
    cache->keep_on_disk(limit);
    return cache;
  };
  auto first = fresh(uint64_t{64} << 20);
  CHECK(first->get("fill.cl", Source::file, "-DTYPE=float") ==
        first->get("fill.cl", Source::file, "-DTYPE=float"));
  CHECK(first->builds() == 1);
  REQUIRE(binaries(folder.path()).size() == 1);

  auto second = fresh(uint64_t{64} << 20);
  second->get("fill.cl", Source::file, "-DTYPE=float");
  CHECK(second->builds() == 0);
  CHECK(second->disk_hits() == 1);
  second->get("fill.cl", Source::file, "-DTYPE=int");
  CHECK(second->builds() == 1);
  CHECK(binaries(folder.path()).size() == 2);

  for (auto& file : binaries(folder.path())) std::ofstream(file, std::ios::app) << "x";
  auto third = fresh(uint64_t{64} << 20);
  third->get("fill.cl", Source::file, "-DTYPE=float");
  CHECK(third->builds() == 1);
  CHECK(third->disk_hits() == 0);

  auto fourth = fresh(1);
  fourth->get("smoke.cl", Source::file, "");
  CHECK(binaries(folder.path()).empty());
}

TEST_CASE("opencl program cache: files are complete or absent") {
  test::CacheFolder folder("binaries");
  std::filesystem::path file = folder.path() / "deep" / "a.bin";
  CHECK(read_binary(file).empty());
  REQUIRE(write_binary(file, "some bytes"));
  CHECK(read_binary(file) == "some bytes");
  for (const char* damaged : {"", "kaiseki-binary-1\n",
                              "something else that is long enough to hold "
                              "a header and some bytes"}) {
    std::ofstream(file, std::ios::trunc) << damaged;
    CHECK(read_binary(file).empty());
  }
  CHECK_FALSE(write_cache_file(file / "below a file", "x"));
  REQUIRE(write_binary(folder.path() / "deep" / "b.bin", std::string(1000, 'b')));
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::min());
  remove_oldest(folder.path() / "deep", ".bin", 1100);
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(std::filesystem::exists(folder.path() / "deep" / "b.bin"));
  remove_oldest(folder.path() / "not there", ".bin", 0);
}

TEST_CASE("opencl program cache: logs are bounded, and leftovers of killed processes are removed") {
  test::CacheFolder folder("logs");
  std::filesystem::create_directories(folder.path());
  auto write = [&](const std::string& name, std::chrono::hours age) {
    std::ofstream(folder.path() / name) << std::string(1000, 'x');
    std::filesystem::last_write_time(folder.path() / name,
                                     std::filesystem::file_time_type::clock::now() - age);
  };
  auto there = [&](const std::string& name) {
    return std::filesystem::exists(folder.path() / name);
  };
  using std::chrono::hours;
  write("build-1.log", hours(3));
  write("build-2.log", hours(2));
  write("a.bin", hours(9));
  write("b.bin.tmp-77-1", hours(2));
  write("c.bin.tmp-78-2", hours(0));
  remove_oldest(folder.path(), ".log", 1500);
  CHECK_FALSE(there("build-1.log"));
  CHECK(there("build-2.log"));
  CHECK(there("a.bin"));
  CHECK_FALSE(there("b.bin.tmp-77-1"));
  CHECK(there("c.bin.tmp-78-2"));
}

TEST_CASE("opencl program cache: sources are embedded") {
  CHECK(embedded_kernel("none.cl").empty());
  CHECK(embedded_kernel_files().size() >= 20);
  for (auto file : embedded_kernel_files())
    CHECK(embedded_kernel(file).starts_with("// SPDX-License-Identifier: MIT\n"));
}

}  // namespace kaiseki::opencl
