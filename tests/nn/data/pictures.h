// SPDX-License-Identifier: MIT
// Makes small pictures and data sets for tests.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "matrix/random.h"
#include "nn/data/dataset.h"

namespace kaiseki::test {

/// Pixels are (31 y + 7 x + 97 c + seed) mod 256.
inline nn::Picture pattern(int height, int width, int channels, int seed = 0) {
  nn::Picture picture{height, width, channels, {}};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        picture.pixels.push_back(static_cast<uint8_t>(31 * y + 7 * x + 97 * c + seed));
  return picture;
}

inline std::vector<uint8_t> sample_of(const nn::Dataset& data, int64_t index,
                                      int32_t* label = nullptr, uint64_t seed = 0) {
  std::vector<uint8_t> values(static_cast<size_t>(data.sample_shape().elements()));
  int32_t found = -1;
  Random random(seed);
  data.read(index, values.data(), found, random);
  if (label) *label = found;
  return values;
}

/// A baseline JPEG of 8 x 8 gray pixels. All are 128, except for rounding.
inline ByteVector tiny_jpeg() {
  std::string text("\xff\xd8\xff\xdb\x00\x43\x00", 7);
  text += std::string(64, '\x01');
  text += std::string("\xff\xc0\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00", 13);
  text += std::string("\xff\xc4\x00\x14\x00\x01", 6) + std::string(15, '\0') + std::string(1, '\0');
  text += std::string("\xff\xc4\x00\x14\x10\x01", 6) + std::string(15, '\0') + std::string(1, '\0');
  text += std::string("\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x3f\xff\xd9", 13);
  ByteView view = as_bytes(text);
  return ByteVector(view.begin(), view.end());
}

}  // namespace kaiseki::test
