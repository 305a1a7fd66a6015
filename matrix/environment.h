// SPDX-License-Identifier: MIT
// Every environment variable that Kaiseki reads, and the only file that reads them
// (docs/environment.md is its table for users).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace kaiseki {

struct Environment {
  std::string device;                     // KAISEKI_DEVICE: "cpu", "opencl", "opencl:1", "auto"
  std::optional<uint64_t> device_memory;  // KAISEKI_DEVICE_MEMORY: bytes that a device may use
  int threads = 0;                        // KAISEKI_THREADS: 0 means one for each core
  std::filesystem::path cache_dir;        // KAISEKI_CACHE_DIR, else XDG_CACHE_HOME/kaiseki
  std::filesystem::path state_dir;        // KAISEKI_STATE_DIR, else XDG_STATE_HOME/kaiseki
  std::filesystem::path data_dir;         // KAISEKI_DATA: where data sets lie; may be empty
  std::string cpu_target;                 // KAISEKI_CPU_TARGET: caps the instruction set ("avx2")
};

/// Read anew at each call, so that tests can change the environment. Throws Error on a bad value.
Environment environment();

/// "512M", "2G", "1000", "64K" (powers of 1024), in bytes. Throws Error with `what` in it.
uint64_t parse_bytes(std::string_view text, std::string_view what);

}  // namespace kaiseki
