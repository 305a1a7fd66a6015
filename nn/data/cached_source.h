// SPDX-License-Identifier: MIT
// Keeps decoded pictures in memory, so that each is decoded once and not in every epoch. Inside
// nn/data.
#pragma once

#include "nn/data/source.h"

namespace kaiseki::nn {

/// The same pictures, always read in one way; those of the sides of `shape` are kept. Takes
/// size * shape bytes as they fill up.
PictureSourcePtr cached(PictureSourcePtr source, const Picture& shape);

}  // namespace kaiseki::nn
