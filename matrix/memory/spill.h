// SPDX-License-Identifier: MIT
// Spilling: files for tensors that left the CPU's memory. The files have no names, so nothing is
// left of a process that is killed.
#pragma once

#include <cstdint>
#include <filesystem>

#include "matrix/memory/raw_memory.h"

namespace kaiseki {

/// Tensors wait in files of this folder from now on. It should be on a fast disk. An empty path
/// means that tensors do not leave the CPU. The initial value is KAISEKI_SPILL_DIR. Throws Error if
/// the folder has no room for a file, or the system has no such files.
void set_spill_folder(const std::filesystem::path& folder);

/// The files as memory, each block a file. nullptr without a folder.
RawMemory* spill_files();

/// Copy between a file and memory. Throw Error with the system's reason.
void write_spilled(void* file, const void* from, uint64_t bytes);
void read_spilled(const void* file, void* to, uint64_t bytes);

}  // namespace kaiseki
