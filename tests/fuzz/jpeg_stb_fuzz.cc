// SPDX-License-Identifier: MIT
// JPEG through stb_image, even if libjpeg-turbo is installed. The linker takes jpeg_stb.cc before
// the library's decoder.
#include "nn/data/picture.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki::nn;

KAISEKI_FUZZ(bytes) {
  Picture picture = decode_picture(bytes, "fuzz");
  size_t pixels = static_cast<size_t>(picture.height) * picture.width * picture.channels;
  if (picture.pixels.size() != pixels) __builtin_trap();
}
