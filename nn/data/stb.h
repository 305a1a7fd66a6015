// SPDX-License-Identifier: MIT
// How much memory stb_image may ask for, so that no length in a hostile file decides it. Inside
// nn/data.
#pragma once

#include <cstddef>

namespace kaiseki::nn {

/// While it lives, larger pieces are refused to this thread's calls of stb_image, which then fail.
class StbLimit {
 public:
  explicit StbLimit(size_t largest_piece);
  ~StbLimit();
  StbLimit(const StbLimit&) = delete;
  StbLimit& operator=(const StbLimit&) = delete;
};

}  // namespace kaiseki::nn
