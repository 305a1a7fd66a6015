// SPDX-License-Identifier: MIT
// Decoding of JPEG: by libjpeg-turbo where it is installed (jpeg_turbo.cc), else by stb_image
// (jpeg_stb.cc). Inside nn/data.
#pragma once

#include <string_view>

#include "nn/data/picture.h"
#include "nn/io/bytes.h"

namespace kaiseki::nn {

/// The header. Sides are not bounded. Throws ParseError that names `source`.
PictureInfo jpeg_info(ByteView file, std::string_view source);

/// All of a JPEG whose header jpeg_info() has read, in 1 or 3 channels. `eighths` (1 to 8) is the
/// part of each side that is needed: the picture may come at the size jpeg_eighths(eighths).
/// Throws ParseError, also where codes are damaged or missing.
Picture decode_jpeg(ByteView file, std::string_view source, const PictureInfo& info, int channels,
                    int eighths);

/// The smallest size, `eighths` or above, at which decode_jpeg() gives a picture.
int jpeg_eighths(int eighths);

}  // namespace kaiseki::nn
