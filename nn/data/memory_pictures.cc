// SPDX-License-Identifier: MIT
#include <algorithm>

#include "base/error.h"
#include "nn/data/source.h"

namespace kaiseki::nn {

MemoryPictures::MemoryPictures(PictureInfo shape, std::vector<uint8_t> pixels,
                               std::vector<int32_t> labels, std::vector<std::string> class_names)
    : shape_(shape), pixels_(std::move(pixels)), labels_(std::move(labels)) {
  class_names_ = std::move(class_names);
}

void MemoryPictures::read(int64_t index, const Preprocessing& how, Picture& picture) const {
  size_t bytes = static_cast<size_t>(shape_.height) * shape_.width * shape_.channels;
  const uint8_t* first = pixels_.data() + static_cast<size_t>(index) * bytes;
  picture.height = shape_.height;
  picture.width = shape_.width;
  picture.channels = shape_.channels;
  picture.eighths = 8;
  picture.pixels.assign(first, first + bytes);
  convert_channels(picture, how.channels);
}

void convert_channels(Picture& picture, int channels) {
  if (channels == 0 || channels == picture.channels) return;
  size_t count = static_cast<size_t>(picture.height) * picture.width;
  std::vector<uint8_t> out(count * channels);
  const uint8_t* in = picture.pixels.data();
  for (size_t i = 0; i < count; ++i) {
    if (channels == 3)
      std::fill_n(out.data() + 3 * i, 3, in[i]);
    else
      out[i] =
          static_cast<uint8_t>((77 * in[3 * i] + 150 * in[3 * i + 1] + 29 * in[3 * i + 2]) >> 8);
  }
  picture.pixels = std::move(out);
  picture.channels = channels;
}

}  // namespace kaiseki::nn
