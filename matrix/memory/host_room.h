// SPDX-License-Identifier: MIT
// How much memory of the host this process may have: the machine's, or what the control groups that
// it is in (a container's) allow.
#pragma once

#include <cstdint>
#include <string>

namespace kaiseki {

/// Bytes.
struct HostRoom {
  uint64_t total = 0;
  uint64_t available = UINT64_MAX;  // now, by the system's estimate, if it has one
};

/// `root` is where /proc and /sys/fs/cgroup (version 1 or 2) are.
HostRoom host_room(const std::string& root = "");

/// Bytes that the pool of a device whose memory is the host's may still take: what is available,
/// but for a part of all that is left to others; all where the system has no estimate.
uint64_t spare_host_memory();

}  // namespace kaiseki
