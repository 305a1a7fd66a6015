// SPDX-License-Identifier: MIT
// Caches decoded pictures in memory, so that each is decoded once and not in every epoch. Internal
// to nn/data.
#pragma once

#include "nn/data/source.h"

namespace kaiseki::nn {

/// Returns a source that caches the pictures with the size of `shape`. Every read must use the same
/// preprocessing. The cache grows to at most source->size() * shape.pixels.size() bytes.
PictureSourcePtr cached(PictureSourcePtr source, const Picture& shape);

}  // namespace kaiseki::nn
