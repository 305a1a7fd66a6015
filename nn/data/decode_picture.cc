// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "nn/data/jpeg.h"
#include "nn/data/orientation.h"
#include "nn/data/picture.h"
#include "nn/data/resize.h"
#include "nn/data/sample_place.h"
#include "nn/data/stb.h"

namespace kaiseki::nn {
namespace {

constexpr int64_t kMaxPixels = int64_t{1} << 26;
/// Upper bounds of pixels per byte. JPEG uses two bits or more for 64 pixels. Deflate compresses at
/// most 1032 bytes to one. A byte of PNG has at most eight pixels.
constexpr int64_t kPixelsPerByteOfJpeg = 1024, kPixelsPerByteOfPng = 8 * 1032;

bool is_jpeg(ByteView file) {
  return file.size() > 3 && file[0] == std::byte{0xff} && file[1] == std::byte{0xd8};
}

bool is_png(ByteView file) {
  return file.size() > 8 && std::memcmp(file.data(), "\x89PNG\r\n\x1a\n", 8) == 0;
}

/// Returns whether a JPEG has all markers up to its end. Decoders fill missing parts with gray.
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

constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) table[i] = (table[i] >> 1) ^ (table[i] & 1 ? 0xedb88320 : 0);
  }
  return table;
}

uint32_t crc32(ByteView bytes) {
  static constexpr std::array<uint32_t, 256> kTable = crc_table();
  uint32_t crc = ~uint32_t{0};
  for (std::byte one : bytes)
    crc = kTable[(crc ^ std::to_integer<uint32_t>(one)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

/// Checks that a PNG is complete, and the checksum of each chunk. stb_image skips them.
void check_png(ByteView file, std::string_view source) {
  constexpr size_t kFrame = 12;  // length, type, checksum
  size_t at = 8;
  for (bool ended = false; !ended;) {
    auto fail = [&](const char* what) {
      throw ParseError(source, "byte " + std::to_string(at), what);
    };
    if (file.size() - at < kFrame) fail("expected the rest of a PNG, got the end of the file");
    const size_t length = load_be<uint32_t>(file.data() + at);
    if (length > file.size() - at - kFrame)
      fail("expected the rest of a PNG, got the end of the file");
    const ByteView chunk = file.subspan(at + 4, length + 4);
    if (crc32(chunk) != load_be<uint32_t>(chunk.data() + chunk.size()))
      fail("the PNG is damaged: a chunk does not have its checksum");
    ended = as_text(chunk.first(4)) == "IEND";
    at += length + kFrame;
  }
}

/// Returns picture_info() and sets `channels` to 1 or 3. Throws for other channels, and for damage
/// that the decoders accept.
PictureInfo info_to_decode(ByteView file, std::string_view source, int& channels) {
  const PictureInfo info = picture_info(file, source);
  if (!channels) channels = info.channels <= 2 ? 1 : 3;
  require(channels == 1 || channels == 3, "decode_picture", "expected 1 or 3 channels, got ",
          channels);
  if (is_jpeg(file) && !is_complete_jpeg(file))
    throw ParseError(source, "byte " + std::to_string(file.size()),
                     "expected the rest of a JPEG, got the end of the file");
  if (is_png(file)) check_png(file, source);
  return info;
}

/// The size of a picture of this orientation when it is turned upright.
PictureSize upright(const PictureInfo& info, int orientation) {
  if (turns_sideways(orientation)) return {info.width, info.height};
  return {info.height, info.width};
}

}  // namespace

PictureInfo picture_info(ByteView file, std::string_view source) {
  auto fail = [&](const std::string& what) { throw ParseError(source, "header", what); };
  if (!is_jpeg(file) && !is_png(file)) fail("the file is not a JPEG or PNG picture");
  if (file.size() > (1u << 30))
    fail("expected a picture of at most 1 GiB, got " + std::to_string(file.size()) + " bytes");
  auto check_sides = [&](int64_t width, int64_t height) {
    if (width > kMaxPictureSide || height > kMaxPictureSide)
      fail("expected sides of at most " + std::to_string(kMaxPictureSide) + " pixels, got " +
           std::to_string(width) + " x " + std::to_string(height));
  };
  if (is_png(file) && file.size() >= 24)  // stb_image would say that it does not know the type
    check_sides(load_be<uint32_t>(file.data() + 16), load_be<uint32_t>(file.data() + 20));
  const PictureInfo info = is_jpeg(file) ? jpeg_info(file, source) : stb_info(file, source);
  check_sides(info.width, info.height);
  const int64_t pixels = int64_t{info.width} * info.height;
  const int64_t most = static_cast<int64_t>(file.size()) *
                       (is_jpeg(file) ? kPixelsPerByteOfJpeg : kPixelsPerByteOfPng);
  if (pixels > kMaxPixels || pixels > most)
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
  const int orientation = how.as_stored ? 1 : exif_orientation(file);
  Picture picture;
  if (is_jpeg(file)) {
    // A turned picture must not begin with a row or column that lies partly outside of it.
    const bool reducible = orientation == 1 || (info.height % 8 == 0 && info.width % 8 == 0);
    const int eighths = reducible ? eighths_needed(upright(info, orientation), how) : 8;
    picture = decode_jpeg(file, source, info, channels, eighths);
  } else {
    picture = stb_decode(file, source, info, channels);
  }
  turn_upright(picture, orientation);
  return picture;
}

Picture decode_picture_portable(ByteView file, std::string_view source, int channels,
                                bool as_stored) {
  const PictureInfo info = info_to_decode(file, source, channels);
  Picture picture = stb_decode(file, source, info, channels);
  turn_upright(picture, as_stored ? 1 : exif_orientation(file));
  return picture;
}

PictureSize upright_size(ByteView file, std::string_view source, bool as_stored) {
  const PictureInfo info = picture_info(file, source);
  return upright(info, as_stored ? 1 : exif_orientation(file));
}

Tensor read_picture(const std::string& path, const Preprocessing& how) {
  ByteVector file = read_file(path, 1u << 30);
  Picture picture = decode_for(file, path, how);
  Preprocessing known = how;
  known.channels = picture.channels;
  if (!known.height) known.height = picture.height;
  if (!known.width) known.width = picture.width;
  Tensor sample({1, known.channels, known.height, known.width}, DType::u8, Device::cpu());
  prepare_sample(picture, known, nullptr, sample.overwrite<uint8_t>());
  return sample;
}

}  // namespace kaiseki::nn
