// SPDX-License-Identifier: MIT
// Decodes PNG with stb_image, and JPEG if there is no other decoder. Limits the memory of
// stb_image, because a hostile file could ask for any size. Internal to nn/data.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/bytes.h"
#include "nn/data/picture.h"

namespace kaiseki::nn {

/// While it lives, allocations of this thread by stb_image fail above `largest_piece` bytes.
class StbLimit {
 public:
  explicit StbLimit(size_t largest_piece);
  ~StbLimit();
  StbLimit(const StbLimit&) = delete;
  StbLimit& operator=(const StbLimit&) = delete;
};

/// Reads the header. Does not check the size. Throws ParseError.
PictureInfo stb_info(ByteView file, std::string_view source);
/// Decodes the picture in 1 or 3 channels. Throws ParseError.
Picture stb_decode(ByteView file, std::string_view source, const PictureInfo& info, int channels);

}  // namespace kaiseki::nn
