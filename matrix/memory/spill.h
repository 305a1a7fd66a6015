// SPDX-License-Identifier: MIT
// Spilling: where tensors wait that left the CPU's memory. These are files without names, so
// nothing is left of a process that is killed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "matrix/memory/raw_memory.h"
#include "matrix/memory/spill_place.h"

namespace kaiseki {

/// Tensors wait in files of this folder from now on. It should be on a fast disk. An empty path
/// means that tensors do not leave the CPU. The initial value is KAISEKI_SPILL_DIR. Throws Error if
/// the folder has no room for a file, or the system has no such files.
void set_spill_folder(const std::filesystem::path& folder);

/// Returns a place for this many bytes, or nullptr if there is no room.
using SpillStore = std::function<std::unique_ptr<SpillPlace>(uint64_t bytes)>;

/// Tensors wait in another store than files from now on. Tests simulate links with it. Those that
/// left the CPU before stay where they are.
void set_spill_store(SpillStore store);

/// The places as memory. A block is a SpillPlace. Returns nullptr without a store.
RawMemory* spill_memory();
/// Returns a place that counts in no budget. Without a store or room, returns nullptr.
std::unique_ptr<SpillPlace> make_place(uint64_t bytes);
/// Returns whether the blocks of the memory are places, also if there is no store now.
bool has_places(const RawMemory& memory);

}  // namespace kaiseki
