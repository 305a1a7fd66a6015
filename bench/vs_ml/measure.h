// SPDX-License-Identifier: MIT
// The time and the memory of one run, as run.py reads them.
#pragma once

#include <chrono>
#include <cstdio>
#include <ctime>
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

struct Figures {
  double seconds, cpu_seconds, peak_memory, added_memory;  // memory in bytes

  /// The keys of a JSON line, up to the last comma.
  void print() const {
    std::printf(
        "{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_memory\": %.0f, \"added_memory\": "
        "%.0f, ",
        seconds, cpu_seconds, peak_memory, added_memory);
  }
};

/// Calls run() once. Memory that was released before does not count.
template <class Run>
Figures measure(const Run& run) {
  reset_peak();
  const double before = status_bytes("VmRSS");
  const std::clock_t cpu = std::clock();
  const auto start = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  const double peak = status_bytes("VmHWM");
  return {seconds.count(), cpu_seconds, peak, peak - before};
}

}  // namespace kaiseki::bench
