// SPDX-License-Identifier: MIT
#define STBI_NO_STDIO
#include <stb/stb_image.h>

#include <memory>

#include "base/error.h"
#include "nn/data/stb.h"

namespace kaiseki::nn {
namespace {

struct Free {
  void operator()(uint8_t* pixels) const { stbi_image_free(pixels); }
};

/// 16 bytes for each pixel, twice because buffers grow. The sides are rounded up to whole blocks.
size_t decoding_limit(const PictureInfo& info, ByteView file) {
  size_t pixels = (static_cast<size_t>(info.width) + 64) * (static_cast<size_t>(info.height) + 64);
  return (1 << 16) + 2 * file.size() + 32 * pixels;
}

const stbi_uc* pointer(ByteView file) { return reinterpret_cast<const stbi_uc*>(file.data()); }

}  // namespace

PictureInfo stb_info(ByteView file, std::string_view source) {
  PictureInfo info;
  if (!stbi_info_from_memory(pointer(file), static_cast<int>(file.size()), &info.width,
                             &info.height, &info.channels))
    throw ParseError(
        source, "header",
        std::string("expected the header of a picture, got: ") + stbi_failure_reason());
  return info;
}

Picture stb_decode(ByteView file, std::string_view source, const PictureInfo& info, int channels) {
  Picture picture{0, 0, channels, {}};
  int stored = 0;
  StbLimit limit(decoding_limit(info, file));
  std::unique_ptr<uint8_t, Free> pixels(
      stbi_load_from_memory(pointer(file), static_cast<int>(file.size()), &picture.width,
                            &picture.height, &stored, channels));
  if (!pixels)
    throw ParseError(source, "pixels",
                     std::string("expected a picture, got: ") + stbi_failure_reason());
  size_t bytes = static_cast<size_t>(picture.width) * picture.height * channels;
  picture.pixels.assign(pixels.get(), pixels.get() + bytes);
  return picture;
}

}  // namespace kaiseki::nn
