// SPDX-License-Identifier: MIT
// The orientation that a camera stores with a picture (Exif 2.32, tag 274). Internal to nn/data.
#pragma once

#include "base/bytes.h"
#include "nn/data/picture.h"

namespace kaiseki::nn {

/// 1 to 8, as Exif numbers them. 1: the picture is upright, or there is no valid Exif block.
int exif_orientation(ByteView file);
/// Whether width and height are exchanged.
inline bool turns_sideways(int orientation) { return orientation > 4; }
/// Turns and mirrors a picture of this orientation, so that it is upright.
void turn_upright(Picture& picture, int orientation);

}  // namespace kaiseki::nn
