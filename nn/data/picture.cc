// SPDX-License-Identifier: MIT
#include "nn/data/picture.h"

#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

#include <algorithm>
#include <cstring>

#include "matrix/error.h"
#include "nn/data/jpeg.h"
#include "nn/data/resize.h"
#include "nn/data/stb.h"
#include "nn/io/file.h"

namespace kaiseki::nn {
namespace {

constexpr int64_t kMaxPixels = int64_t{1} << 26;
/// More pixels than a byte can stand for: JPEG spends two bits or more on 64 of them, and deflate
/// packs at most 1032 bytes, of eight pixels each, into one.
constexpr int64_t kPixelsPerByteOfJpeg = 1024, kPixelsPerByteOfPng = 8 * 1032;

bool is_jpeg(ByteView file) {
  return file.size() > 3 && file[0] == std::byte{0xff} && file[1] == std::byte{0xd8};
}

bool is_png(ByteView file) {
  return file.size() > 8 && std::memcmp(file.data(), "\x89PNG\r\n\x1a\n", 8) == 0;
}

/// Whether the markers of a JPEG lead to its end: decoders fill what is missing with grey.
bool is_complete_jpeg(ByteView file) {
  size_t at = 2;
  while (at + 1 < file.size()) {
    auto marker =
        static_cast<const std::byte*>(std::memchr(file.data() + at, 0xff, file.size() - at - 1));
    if (!marker) return false;
    at = static_cast<size_t>(marker - file.data());
    int kind = std::to_integer<int>(file[at + 1]);
    if (kind == 0xd9) return true;
    bool bare = kind == 0 || kind == 0x01 || (kind >= 0xd0 && kind <= 0xd8);
    at += kind == 0xff ? 1 : 2;
    if (bare || kind == 0xff) continue;
    if (at + 2 > file.size()) return false;
    at += load_be<uint16_t>(file.data() + at);
  }
  return false;
}

/// Also refuses what ends too early, and `channels` that no sample has.
PictureInfo info_to_decode(ByteView file, std::string_view source, int& channels) {
  const PictureInfo info = picture_info(file, source);
  if (!channels) channels = info.channels <= 2 ? 1 : 3;
  require(channels == 1 || channels == 3, "decode_picture", "expected 1 or 3 channels, got ",
          channels);
  if (is_jpeg(file) && !is_complete_jpeg(file))
    throw ParseError(source, "byte " + std::to_string(file.size()),
                     "expected the rest of a JPEG, got the end of the file");
  return info;
}

void append_to_bytes(void* context, void* data, int size) {
  auto* first = static_cast<const std::byte*>(data);
  auto& bytes = *static_cast<ByteVector*>(context);
  bytes.insert(bytes.end(), first, first + size);
}

}  // namespace

PictureInfo picture_info(ByteView file, std::string_view source) {
  auto fail = [&](const std::string& what) { throw ParseError(source, "header", what); };
  if (!is_jpeg(file) && !is_png(file)) fail("expected a JPEG or PNG picture, got other bytes");
  if (file.size() > (1u << 30)) fail("expected a picture of at most 1 GiB, got a larger file");
  const PictureInfo info = is_jpeg(file) ? jpeg_info(file, source) : stb_info(file, source);
  const int64_t pixels = int64_t{info.width} * info.height;
  const int64_t most = static_cast<int64_t>(file.size()) *
                       (is_jpeg(file) ? kPixelsPerByteOfJpeg : kPixelsPerByteOfPng);
  if (info.width > kMaxPictureSide || info.height > kMaxPictureSide || pixels > kMaxPixels ||
      pixels > most)
    fail("expected at most " + std::to_string(std::min(most, kMaxPixels)) +
         " pixels in a file of this size, got " + std::to_string(info.width) + " x " +
         std::to_string(info.height));
  return info;
}

Picture decode_picture(ByteView file, std::string_view source, int channels) {
  return decode_for(file, source, {.channels = channels});
}

Picture decode_for(ByteView file, std::string_view source, const Preprocessing& how) {
  int channels = how.channels;
  const PictureInfo info = info_to_decode(file, source, channels);
  if (!is_jpeg(file)) return stb_decode(file, source, info, channels);
  return decode_jpeg(file, source, info, channels, eighths_needed({info.height, info.width}, how));
}

Picture decode_picture_alike(ByteView file, std::string_view source, int channels) {
  const PictureInfo info = info_to_decode(file, source, channels);
  return stb_decode(file, source, info, channels);
}

ByteVector encode_png(const Picture& picture) {
  ByteVector file;
  if (!stbi_write_png_to_func(append_to_bytes, &file, picture.width, picture.height,
                              picture.channels, picture.pixels.data(),
                              picture.width * picture.channels))
    throw Error(message("encode_png", "expected memory for a picture, got none"));
  return file;
}

ByteVector encode_jpeg(const Picture& picture, int quality) {
  ByteVector file;
  if (!stbi_write_jpg_to_func(append_to_bytes, &file, picture.width, picture.height,
                              picture.channels, picture.pixels.data(), quality))
    throw Error(message("encode_jpeg", "expected a picture with pixels, got ", picture.height, "x",
                        picture.width));
  return file;
}

Tensor read_picture(const std::filesystem::path& path, const Preprocessing& how) {
  ByteVector file = read_file(path, 1u << 30);
  Picture picture = decode_for(file, path.string(), how);
  Preprocessing known = how;
  known.channels = picture.channels;
  if (!known.height) known.height = picture.height;
  if (!known.width) known.width = picture.width;
  Tensor sample({1, known.channels, known.height, known.width}, DType::f32, Device::cpu());
  prepare_sample(picture, known, nullptr, sample.overwrite<float>());
  return sample;
}

}  // namespace kaiseki::nn
