// SPDX-License-Identifier: MIT
// SpillPlace: the place of a tensor that left the CPU's memory.
#pragma once

#include "matrix/memory/raw_memory.h"

namespace kaiseki {

/// The place of one tensor. Two threads may use two places at the same time.
class SpillPlace {
 public:
  virtual ~SpillPlace() = default;
  /// Copy the rows between memory and the place, which is the region's `host`. Throw Error with the
  /// system's reason.
  virtual void write(const void* from, const CopyRegion& region) = 0;
  virtual void read(void* to, const CopyRegion& region) const = 0;
  /// Waits until the written data are on the disk. The next read comes from the disk, not from the
  /// system's memory. For measurements.
  virtual void flush() {}
};

}  // namespace kaiseki
