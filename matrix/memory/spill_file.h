// SPDX-License-Identifier: MIT
// Files without names for tensors that wait on a disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "matrix/memory/spill_place.h"

namespace kaiseki {

/// Reserves the room on the disk now. Returns nullptr if the disk is full, or if
/// too many files are open. Throws Error with the system's reason, or if it has no such files.
std::unique_ptr<SpillPlace> make_spill_file(const std::filesystem::path& folder, uint64_t bytes);

}  // namespace kaiseki
