// SPDX-License-Identifier: MIT
// Decodes JPEG with stb_image if libjpeg-turbo is not installed.
#define STBI_NO_STDIO
#include <stb/stb_image.h>

#include "base/error.h"
#include "nn/data/jpeg.h"
#include "nn/data/stb.h"

namespace kaiseki::nn {

PictureInfo jpeg_info(ByteView file, std::string_view source) { return stb_info(file, source); }

Picture decode_jpeg(ByteView file, std::string_view source, const PictureInfo& info, int channels,
                    int) {
  return stb_decode(file, source, info, channels);
}

int jpeg_eighths(int) { return 8; }

const char* jpeg_decoder() { return "stb_image"; }

}  // namespace kaiseki::nn
