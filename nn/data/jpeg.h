// SPDX-License-Identifier: MIT
// Decodes JPEG with libjpeg-turbo if it is installed (jpeg_turbo.cc), else with stb_image
// (jpeg_stb.cc). Internal to nn/data.
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "nn/data/picture.h"

namespace kaiseki::nn {

/// Reads the header. Does not check the size. Throws ParseError with `source`.
PictureInfo jpeg_info(ByteView file, std::string_view source);

/// Decodes a JPEG in 1 or 3 channels. `info` is the result of jpeg_info(). `eighths` (1 to 8) is
/// the scale that is needed. The picture has the scale jpeg_eighths(eighths). Throws ParseError,
/// also if codes are damaged or missing.
Picture decode_jpeg(ByteView file, std::string_view source, const PictureInfo& info, int channels,
                    int eighths);

/// The smallest scale, `eighths` or above, that decode_jpeg() supports.
int jpeg_eighths(int eighths);

}  // namespace kaiseki::nn
