// SPDX-License-Identifier: MIT
// Spilling: the places of tensors that left the CPU's memory. These are files without names, so a
// process that is killed leaves no file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "matrix/memory/raw_memory.h"
#include "matrix/memory/spill_place.h"

namespace kaiseki {

/// From now on, tensors wait in files of this folder. It should be on a fast disk. An empty path
/// means that tensors do not leave the CPU. The initial value is KAISEKI_SPILL_DIR. Throws Error if
/// the folder has no room for a file, or the system has no such files.
void set_spill_folder(const std::filesystem::path& folder);

/// Returns a place for this many bytes, or nullptr if there is no room.
using SpillStore = std::function<std::unique_ptr<SpillPlace>(uint64_t bytes)>;

/// From now on, tensors wait in this store in place of files. Tests simulate links with it. Tensors
/// that left the CPU before stay in their places.
void set_spill_store(SpillStore store);

/// The places as memory. A block is a SpillPlace. Returns nullptr without a store.
RawMemory* spill_memory();
/// Returns a place that counts in no budget. Without a store or room, returns nullptr.
std::unique_ptr<SpillPlace> make_place(uint64_t bytes);
/// Returns whether the blocks of the memory are places, also if there is no store now.
bool has_places(const RawMemory& memory);

}  // namespace kaiseki
