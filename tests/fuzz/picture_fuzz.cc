// SPDX-License-Identifier: MIT
// JPEG and PNG. Decodes at full and at reduced size, and converts the picture to a sample.
#include "nn/data/picture.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki::nn;

KAISEKI_FUZZ(bytes) {
  Picture picture = decode_picture(bytes, "fuzz");
  size_t pixels = static_cast<size_t>(picture.height) * picture.width * picture.channels;
  if (picture.pixels.size() != pixels) __builtin_trap();
  const Preprocessing how{.channels = picture.channels,
                          .height = 24,
                          .width = 17,
                          .resize = static_cast<int>(pixels % 64),
                          .padding = 2,
                          .random_crop = true,
                          .flip = true};
  std::vector<uint8_t> sample(static_cast<size_t>(how.channels) * 24 * 17);
  kaiseki::Random random(pixels);
  prepare_sample(picture, how, nullptr, sample.data());
  prepare_sample(picture, how, &random, sample.data());
  prepare_sample(decode_for(bytes, "fuzz", how), how, &random, sample.data());
}
