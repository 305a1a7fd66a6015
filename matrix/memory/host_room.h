// SPDX-License-Identifier: MIT
// The host memory that this process may use. It is all memory of the machine, or less in a
// container (the limit of its control groups).
#pragma once

#include <cstdint>
#include <string>

namespace kaiseki {

/// Bytes.
struct HostRoom {
  uint64_t total = 0;
  uint64_t available = UINT64_MAX;  // now, by the system's estimate; UINT64_MAX without an estimate
};

/// `root` is the folder with /proc and /sys/fs/cgroup (version 1 or 2).
HostRoom host_room(const std::string& root = "");

/// The bytes that an allocator may still take if its device uses host memory. It is the available
/// memory, less a reserve for other uses. UINT64_MAX if the system has no estimate.
uint64_t spare_host_memory();

}  // namespace kaiseki
