// SPDX-License-Identifier: MIT
#include "matrix/memory/host_room.h"

#include <unistd.h>
#ifdef __linux__
#include <algorithm>
#include <fstream>
#include <optional>
#endif

namespace kaiseki {
namespace {

uint64_t physical_memory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

}  // namespace

#ifdef __linux__
namespace {

constexpr uint64_t kReserve = 16;  // 1/16 of all memory is left for memory outside the allocators

/// Returns the number after `key`, or the first number in the file.
std::optional<uint64_t> number_in(const std::string& file, const std::string& key = "") {
  std::ifstream in(file);
  for (std::string word; word != key;)
    if (!(in >> word)) return {};
  uint64_t value = 0;
  return in >> value ? std::optional(value) : std::nullopt;
}

struct Names {
  const char *limit, *used, *files;  // files: cached pages that the system can reclaim
};
constexpr Names kFirst{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr Names kSecond{"memory.max", "memory.current", "inactive_file"};

void narrow(HostRoom& room, const std::string& group, const Names& names) {
  const auto limit = number_in(group + names.limit);  // "max" means no limit
  if (!limit) return;
  const uint64_t used = number_in(group + names.used).value_or(0);
  const uint64_t files = number_in(group + "memory.stat", names.files).value_or(0);
  room.total = std::min(room.total, *limit);
  room.available =
      std::min(room.available, *limit - std::min(*limit, used - std::min(used, files)));
}

/// Also applies the limits of the enclosing groups.
void narrow_all(HostRoom& room, const std::string& folder, std::string group, const Names& names) {
  if (group == "/") group.clear();
  for (;; group.resize(group.rfind('/'))) {
    narrow(room, folder + group + '/', names);
    if (group.rfind('/') == group.npos) return;
  }
}

HostRoom machine(const std::string& root) {
  HostRoom room{physical_memory()};
  std::ifstream in(root + "/proc/meminfo");
  uint64_t kilobytes = 0;
  for (std::string word; in >> word;) {  // "MemTotal: 8388608 kB"
    if (word == "MemTotal:" && in >> kilobytes) room.total = kilobytes * 1024;
    if (word == "MemAvailable:" && in >> kilobytes) {
      room.available = kilobytes * 1024;
      break;
    }
  }
  return room;
}

}  // namespace

HostRoom host_room(const std::string& root) {
  HostRoom room = machine(root);
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:memory:/a/b", "0::/a/b"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const std::string group = line.substr(second + 1);
    if (controllers.find(",memory,") != controllers.npos)
      narrow_all(room, root + "/sys/fs/cgroup/memory", group, kFirst);
    else if (controllers == ",,")
      narrow_all(room, root + "/sys/fs/cgroup", group, kSecond);
  }
  return room;
}

uint64_t spare_host_memory() {
  const HostRoom room = host_room();
  return room.available - std::min(room.available, room.total / kReserve);
}
#else
HostRoom host_room(const std::string&) { return {physical_memory()}; }

uint64_t spare_host_memory() { return UINT64_MAX; }  // no estimate available
#endif

}  // namespace kaiseki
