// SPDX-License-Identifier: MIT
// Resizes parts of pictures, and computes the size at which to decode them. Internal to nn/data.
#pragma once

#include <cstdint>

#include "nn/data/picture.h"
#include "nn/data/sample_place.h"

namespace kaiseki::nn {

/// The size to which a whole picture is resized before the crop.
PictureSize scaled_size(PictureSize whole, const Preprocessing& how);

/// Returns the smallest scale, in eighths (1 to 8), at which a picture has at least the pixels of
/// scaled_size(). Returns 8 if `how` has no height or width.
int eighths_needed(PictureSize whole, const Preprocessing& how);

/// The size of the encoded picture.
PictureSize whole_size(const Picture& picture);

/// The output pixels `first` to `first + count - 1` along one axis. The axis is resized from `from`
/// to `to` pixels. `extent` is the length of the input in pixels. If the last pixel lies partly
/// outside, `extent` is below `from`.
struct ResizeWindow {
  int from = 0;
  double extent = 0;
  int64_t to = 0, first = 0;
  int count = 0;
};
struct ResizeWindows {
  ResizeWindow rows, columns;
};

/// The windows of a whole picture that is resized to `scaled`.
ResizeWindows whole_windows(const Picture& picture, PictureSize scaled);

/// Computes the part of the resized picture in the two windows. They must not be empty.
Picture resize_part(const Picture& picture, const ResizeWindows& windows);

}  // namespace kaiseki::nn
