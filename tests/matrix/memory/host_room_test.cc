// SPDX-License-Identifier: MIT
#include "matrix/memory/host_room.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "matrix/device.h"

namespace fs = std::filesystem;
using kaiseki::HostRoom;

#ifdef __linux__
namespace {

constexpr uint64_t kMiB = 1 << 20;

/// A machine with 8 GiB, 6 GiB of them available, and with files for its control groups.
class Machine {
 public:
  explicit Machine(const std::string& name)
      : root_(fs::temp_directory_path() / ("kaiseki_room_" + name + std::to_string(getpid()))) {
    fs::remove_all(root_);
    write("proc/meminfo",
          "MemTotal:        8388608 kB\nMemFree:  1024 kB\nMemAvailable:    6291456 kB\n");
  }
  ~Machine() { fs::remove_all(root_); }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  void check(uint64_t total, uint64_t available) const {
    const HostRoom room = kaiseki::host_room(root_.string());
    CHECK(room.total == total * kMiB);
    CHECK(room.available == available * kMiB);
  }

 private:
  fs::path root_;
};

}  // namespace

TEST_CASE("host room: the machine's memory, if no group limits it") {
  const Machine machine("none");
  machine.check(8192, 6144);
  machine.write("proc/self/cgroup", "4:memory:/\n0::/user\nnonsense\n");
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  machine.write("sys/fs/cgroup/user/memory.max", "max\n");
  machine.check(8192, 6144);
}

TEST_CASE("host room: limits of cgroup version 2, of the group or an enclosing one") {
  const Machine machine("second");
  machine.write("proc/self/cgroup", "0::/a/b\n");
  machine.write("sys/fs/cgroup/a/b/memory.max", "max\n");
  machine.write("sys/fs/cgroup/a/memory.max", std::to_string(1024 * kMiB));
  machine.write("sys/fs/cgroup/a/memory.current", std::to_string(800 * kMiB));
  machine.check(1024, 224);
  machine.write("sys/fs/cgroup/a/memory.stat",
                "anon 1\ninactive_file " + std::to_string(300 * kMiB) + "\n");
  machine.check(1024, 524);
  // The view from inside a container.
  machine.write("sys/fs/cgroup/memory.max", std::to_string(512 * kMiB));
  machine.write("sys/fs/cgroup/memory.current", std::to_string(600 * kMiB));
  machine.check(512, 0);
}

TEST_CASE("host room: limits of cgroup version 1") {
  const Machine machine("first");
  machine.write("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/1\n0::/\n");
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(2048 * kMiB));
  machine.write("sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(1000 * kMiB));
  machine.write("sys/fs/cgroup/memory/memory.stat",
                "inactive_file 7\ntotal_inactive_file " + std::to_string(100 * kMiB) + "\n");
  machine.check(2048, 1148);
}
#endif

TEST_CASE("host room: the CPU device has the memory that this process may use") {
  const HostRoom room = kaiseki::host_room();
  CHECK(room.total > 0);
  CHECK(room.available > 0);
#ifdef __linux__
  CHECK(kaiseki::spare_host_memory() < room.available);
#endif
  CHECK(kaiseki::list_devices()[0].memory == room.total);
}
