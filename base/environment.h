// SPDX-License-Identifier: MIT
// Every environment variable that Kaiseki reads. No other file reads them. docs/environment.md is
// the table for users.
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
  std::optional<uint64_t> host_memory;  // KAISEKI_HOST_MEMORY: bytes for tensors that left devices
  std::filesystem::path spill_dir;      // KAISEKI_SPILL_DIR: files for tensors that left the CPU
  int threads = 0;                      // KAISEKI_THREADS: 0 means one per core
  std::filesystem::path cache_dir;      // KAISEKI_CACHE_DIR, else XDG_CACHE_HOME/kaiseki
  std::filesystem::path state_dir;      // KAISEKI_STATE_DIR, else XDG_STATE_HOME/kaiseki
  std::filesystem::path data_dir;       // KAISEKI_DATA: the folder of data sets; may be empty
  std::string cpu_target;               // KAISEKI_CPU_TARGET: limits the instruction set ("avx2")
};

/// Reads the environment at each call, so that tests can change it. Throws Error on an invalid
/// value.
Environment environment();

/// The variables of a terminal. Every value is valid.
struct TerminalEnvironment {
  bool no_color = false;            // NO_COLOR is not empty
  std::string type;                 // TERM
  std::string locale;               // the first of LC_ALL, LC_CTYPE and LANG that is not empty
  std::optional<int> columns = {};  // COLUMNS, if it is above 0
};
TerminalEnvironment terminal_environment();

/// Parses "512M", "2G", "1000" or "64K" (powers of 1024) to bytes. Throws Error with `what` in the
/// message.
uint64_t parse_bytes(std::string_view text, std::string_view what);

}  // namespace kaiseki
