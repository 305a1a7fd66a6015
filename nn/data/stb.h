// SPDX-License-Identifier: MIT
// stb_image: PNG, and JPEG where no other decoder is; and how much memory it may ask for, so that
// no length in a hostile file decides it. Inside nn/data.
#pragma once

#include <cstddef>
#include <string_view>

#include "nn/data/picture.h"
#include "nn/io/bytes.h"

namespace kaiseki::nn {

/// While it lives, larger pieces are refused to this thread's calls of stb_image, which then fail.
class StbLimit {
 public:
  explicit StbLimit(size_t largest_piece);
  ~StbLimit();
  StbLimit(const StbLimit&) = delete;
  StbLimit& operator=(const StbLimit&) = delete;
};

/// The header, not yet bounded. Throws ParseError.
PictureInfo stb_info(ByteView file, std::string_view source);
/// All of it, in 1 or 3 channels. Throws ParseError.
Picture stb_decode(ByteView file, std::string_view source, const PictureInfo& info, int channels);

}  // namespace kaiseki::nn
