// SPDX-License-Identifier: MIT
#include "tests/support/encode_picture.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-function"
#define STBI_WRITE_NO_STDIO
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

#include "base/error.h"

namespace kaiseki::test {
namespace {

void append_to_bytes(void* context, void* data, int size) {
  auto* first = static_cast<const std::byte*>(data);
  auto& bytes = *static_cast<ByteVector*>(context);
  bytes.insert(bytes.end(), first, first + size);
}

}  // namespace

ByteVector encode_png(const nn::Picture& picture) {
  ByteVector file;
  if (!stbi_write_png_to_func(append_to_bytes, &file, picture.width, picture.height,
                              picture.channels, picture.pixels.data(),
                              picture.width * picture.channels))
    throw Error(message("encode_png", "not enough memory to encode a picture"));
  return file;
}

ByteVector encode_jpeg(const nn::Picture& picture, int quality) {
  ByteVector file;
  if (!stbi_write_jpg_to_func(append_to_bytes, &file, picture.width, picture.height,
                              picture.channels, picture.pixels.data(), quality))
    throw Error(message("encode_jpeg", "expected a picture with pixels, got ", picture.height, "x",
                        picture.width));
  return file;
}

}  // namespace kaiseki::test
