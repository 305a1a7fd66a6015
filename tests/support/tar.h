// SPDX-License-Identifier: MIT
// finish_tar(): the end of an archive that a test made with nn::append_tar_file().
#pragma once

#include "nn/io/tar.h"

namespace kaiseki::test {

/// Appends the two empty blocks at the end of an archive.
inline void finish_tar(ByteVector& archive) { archive.resize(archive.size() + 1024); }

}  // namespace kaiseki::test
