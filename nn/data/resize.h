// SPDX-License-Identifier: MIT
// Resizing of parts of pictures, and what it asks of decoding. Inside nn/data.
#pragma once

#include <cstdint>

#include "nn/data/picture.h"

namespace kaiseki::nn {

struct Size {
  int64_t height = 0, width = 0;
};

/// The size to which a whole picture is brought before the crop.
Size scaled_size(Size whole, const Preprocessing& how);

/// The least eighths of a picture's sides that hold as many pixels as scaled_size(): 1 to 8. It is
/// 8 when `how` leaves a side to the picture.
int eighths_needed(Size whole, const Preprocessing& how);

/// The sides of the picture that was encoded.
Size whole_size(const Picture& picture);

/// Some output pixels of one axis, whose `from` input pixels lie along a length of `extent` of
/// them and are brought to `to`. `extent` is below `from` when the last one lies partly outside.
struct Window {
  int from = 0;
  double extent = 0;
  int64_t to = 0, first = 0;
  int count = 0;
};
struct Windows {
  Window rows, columns;
};

/// For the whole of a picture that is brought to `scaled`.
Windows whole_windows(const Picture& picture, Size scaled);

/// The resized picture's part in the two windows, which are not empty. Makes nothing else of it.
Picture resize_part(const Picture& picture, const Windows& windows);

}  // namespace kaiseki::nn
