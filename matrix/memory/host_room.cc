// SPDX-License-Identifier: MIT
#include "matrix/memory/host_room.h"

#include <unistd.h>
#ifdef __linux__
#include <algorithm>
#include <fstream>
#include <optional>
#endif

namespace kaiseki {

#ifdef __linux__
namespace {

/// The number after `key`, or the first one of the file.
std::optional<uint64_t> number_in(const std::string& file, const std::string& key = "") {
  std::ifstream in(file);
  for (std::string word; word != key;)
    if (!(in >> word)) return {};
  uint64_t value = 0;
  return in >> value ? std::optional(value) : std::nullopt;
}

struct Names {
  const char *limit, *used, *files;  // files: pages that are given up when they are needed
};
constexpr Names kFirst{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr Names kSecond{"memory.max", "memory.current", "inactive_file"};

void narrow(HostRoom& room, const std::string& group, const Names& names) {
  const auto limit = number_in(group + names.limit);  // "max" is none
  if (!limit) return;
  const uint64_t used = number_in(group + names.used).value_or(0);
  const uint64_t files = number_in(group + "memory.stat", names.files).value_or(0);
  room.total = std::min(room.total, *limit);
  room.available =
      std::min(room.available, *limit - std::min(*limit, used - std::min(used, files)));
}

/// With those that the group is in.
void narrow_all(HostRoom& room, const std::string& folder, std::string group, const Names& names) {
  if (group == "/") group.clear();
  for (;; group.resize(group.rfind('/'))) {
    narrow(room, folder + group + '/', names);
    if (group.rfind('/') == group.npos) return;
  }
}

}  // namespace

HostRoom host_room(const std::string& root) {
  const auto total = number_in(root + "/proc/meminfo", "MemTotal:");
  const auto available = number_in(root + "/proc/meminfo", "MemAvailable:");
  HostRoom room;
  room.total = total ? *total * 1024
                     : static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (available) room.available = *available * 1024;
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
#else
HostRoom host_room(const std::string&) {
  return {static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE)};
}
#endif

}  // namespace kaiseki
