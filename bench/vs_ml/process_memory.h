// SPDX-License-Identifier: MIT
// The memory of this process, as Linux counts it.
#pragma once

#include <cstdio>
#include <string>

namespace kaiseki::bench {

/// Returns a figure of /proc/self/status in bytes, or 0.
inline double status_bytes(const std::string& name) {
  double kib = 0;
  if (FILE* file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    const std::string format = name + ": %lf kB";
    while (std::fgets(line, sizeof line, file) && kib == 0) std::sscanf(line, format.c_str(), &kib);
    std::fclose(file);
  }
  return kib * 1024;
}

/// Forgets the peak of reading the data.
inline void reset_peak() {
  if (FILE* file = std::fopen("/proc/self/clear_refs", "w")) {
    std::fputs("5", file);
    std::fclose(file);
  }
}

}  // namespace kaiseki::bench
