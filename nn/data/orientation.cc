// SPDX-License-Identifier: MIT
#include "nn/data/orientation.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kaiseki::nn {
namespace {

/// A part of a file, or nothing if the part ends behind the file.
ByteView part(ByteView file, size_t first, size_t bytes) {
  if (first > file.size() || bytes > file.size() - first) return {};
  return file.subspan(first, bytes);
}

template <class T>
T load(const std::byte* from, bool little_endian) {
  return little_endian ? load_le<T>(from) : load_be<T>(from);
}

/// Finds tag 274 in the first directory of a TIFF block.
int tiff_orientation(ByteView tiff) {
  constexpr size_t kEntry = 12;
  constexpr uint16_t kOrientation = 274, kShort = 3;
  if (tiff.size() < 8) return 1;
  const bool little = tiff[0] == std::byte{'I'};
  const size_t directory = load<uint32_t>(tiff.data() + 4, little);
  const ByteView count = part(tiff, directory, 2);
  if (count.empty()) return 1;
  for (size_t i = 0; i < load<uint16_t>(count.data(), little); ++i) {
    const ByteView entry = part(tiff, directory + 2 + i * kEntry, kEntry);
    if (entry.empty()) return 1;
    if (load<uint16_t>(entry.data(), little) != kOrientation) continue;
    const int value = load<uint16_t>(entry.data() + 8, little);
    const bool is_valid =
        load<uint16_t>(entry.data() + 2, little) == kShort && value >= 1 && value <= 8;
    return is_valid ? value : 1;
  }
  return 1;
}

int jpeg_orientation(ByteView file) {
  constexpr int kApp1 = 0xe1, kScan = 0xda;
  constexpr std::string_view kExif("Exif\0\0", 6);
  for (size_t at = 2;;) {
    const ByteView head = part(file, at, 4);
    if (head.empty() || head[0] != std::byte{0xff}) return 1;
    const int kind = std::to_integer<int>(head[1]);
    if (kind == 0xff) {  // a fill byte
      ++at;
      continue;
    }
    if (kind == kScan) return 1;
    const size_t length = load_be<uint16_t>(head.data() + 2);
    const ByteView segment = part(file, at + 2, length);
    if (length < 2 || segment.empty()) return 1;
    if (kind == kApp1 && as_text(segment.subspan(2)).starts_with(kExif))
      return tiff_orientation(segment.subspan(2 + kExif.size()));
    at += 2 + length;
  }
}

int png_orientation(ByteView file) {
  constexpr size_t kFrame = 12;  // length, type, checksum
  for (size_t at = 8;;) {
    const ByteView head = part(file, at, 8);
    if (head.empty()) return 1;
    const size_t length = load_be<uint32_t>(head.data());
    const ByteView contents = part(file, at + 8, length);
    if (as_text(head.subspan(4)) == "eXIf") return tiff_orientation(contents);
    if (length && contents.empty()) return 1;
    at += kFrame + length;
  }
}

}  // namespace

int exif_orientation(ByteView file) {
  const bool is_jpeg = file.size() > 2 && file[0] == std::byte{0xff};
  return is_jpeg ? jpeg_orientation(file) : png_orientation(file);
}

void turn_upright(Picture& picture, int orientation) {
  if (orientation == 1) return;
  const bool sideways = turns_sideways(orientation);
  const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 ||
                           orientation == 7;  // of the stored rows
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const int height = sideways ? picture.width : picture.height;
  const int width = sideways ? picture.height : picture.width;
  const auto channels = static_cast<size_t>(picture.channels);
  std::vector<uint8_t> turned(picture.pixels.size());
  uint8_t* out = turned.data();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x, out += channels) {
      const int row = sideways ? x : y, column = sideways ? y : x;
      const int from_y = from_bottom ? picture.height - 1 - row : row;
      const int from_x = from_right ? picture.width - 1 - column : column;
      const size_t from = static_cast<size_t>(from_y) * picture.width + from_x;
      std::memcpy(out, picture.pixels.data() + from * channels, channels);
    }
  picture.pixels = std::move(turned);
  picture.height = height;
  picture.width = width;
  if (sideways) std::swap(picture.whole_height, picture.whole_width);
}

}  // namespace kaiseki::nn
