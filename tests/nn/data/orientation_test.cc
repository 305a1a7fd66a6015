// SPDX-License-Identifier: MIT
// Pictures that a camera stored turned or mirrored are decoded upright.
#include "nn/data/orientation.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/nn/data/pictures.h"
#include "tests/support/encode_picture.h"

using namespace kaiseki;
using namespace kaiseki::nn;

namespace {

constexpr int kBlock = 8, kRows = 2, kColumns = 3;

/// Blocks of six shades of gray.
Picture blocks() {
  Picture picture{kBlock * kRows, kBlock * kColumns, 1, {}};
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      picture.pixels.push_back(
          static_cast<uint8_t>(40 * (y / kBlock * kColumns + x / kBlock) + 20));
  return picture;
}

/// Stores an upright picture by the table of Exif. The table says where row 0 and column 0 of the
/// stored picture lie in the upright one.
Picture stored_as(const Picture& upright, int orientation) {
  struct Sides {
    bool row_is_far, column_is_far, row_is_column;
  };
  constexpr Sides kSides[] = {{false, false, false}, {false, true, false}, {true, true, false},
                              {true, false, false},  {false, false, true}, {true, false, true},
                              {true, true, true},    {false, true, true}};
  const Sides sides = kSides[orientation - 1];
  const int h = upright.height, w = upright.width;
  Picture stored{sides.row_is_column ? w : h, sides.row_is_column ? h : w, 1, {}};
  for (int row = 0; row < stored.height; ++row)
    for (int column = 0; column < stored.width; ++column) {
      const int r = sides.row_is_far ? stored.height - 1 - row : row;
      const int c = sides.column_is_far ? stored.width - 1 - column : column;
      const int y = sides.row_is_column ? c : r, x = sides.row_is_column ? r : c;
      stored.pixels.push_back(upright.pixels[static_cast<size_t>(y * w + x)]);
    }
  return stored;
}

std::string exif(int orientation, bool little_endian) {
  std::string block("Exif\0\0", 6);
  const auto letter = static_cast<char>(orientation);
  block += little_endian ? std::string("II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0", 18) + letter + '\0'
                         : std::string("MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1", 18) + '\0' + letter;
  return block + std::string(6, '\0');
}

ByteVector with_block(ByteView jpeg, const std::string& block) {
  std::string text(as_text(jpeg.first(2)));
  text += "\xff\xe1";
  text += static_cast<char>((block.size() + 2) >> 8);
  text += static_cast<char>((block.size() + 2) & 0xff);
  text += block + std::string(as_text(jpeg.subspan(2)));
  const ByteView bytes = as_bytes(text);
  return ByteVector(bytes.begin(), bytes.end());
}

uint32_t crc32(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

std::string big_endian(uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
  return text;
}

/// Adds the chunk eXIf before the pixels. It holds the TIFF block alone.
ByteVector with_chunk(ByteView png, const std::string& exif) {
  constexpr size_t kHeaderEnd = 33, kPrefix = 6;
  const std::string chunk = "eXIf" + exif.substr(kPrefix);
  std::string text(as_text(png.first(kHeaderEnd)));
  text += big_endian(static_cast<uint32_t>(chunk.size() - 4)) + chunk + big_endian(crc32(chunk));
  text += as_text(png.subspan(kHeaderEnd));
  const ByteView bytes = as_bytes(text);
  return ByteVector(bytes.begin(), bytes.end());
}

int largest_difference(const Picture& a, const Picture& b) {
  REQUIRE(a.height == b.height);
  REQUIRE(a.width == b.width);
  int largest = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i)
    largest = std::max(largest, std::abs(a.pixels[i] - b.pixels[i]));
  return largest;
}

}  // namespace

TEST_CASE("orientation: a JPEG is turned upright, unless the stored rows are asked for") {
  const Picture upright = blocks();
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (const bool little_endian : {false, true}) {
      CAPTURE(orientation);
      const Picture stored = stored_as(upright, orientation);
      const ByteVector file =
          with_block(test::encode_jpeg(stored, 100), exif(orientation, little_endian));
      CHECK(exif_orientation(file) == orientation);
      CHECK(largest_difference(decode_picture(file, "file", 1), upright) <= 2);  // rounding of JPEG
      Preprocessing how;
      how.channels = 1;
      how.as_stored = true;
      CHECK(largest_difference(decode_for(file, "file", how), stored) <= 2);
    }
}

TEST_CASE("orientation: a PNG is turned upright by its chunk eXIf") {
  const Picture upright = blocks();
  for (int orientation = 1; orientation <= 8; ++orientation) {
    CAPTURE(orientation);
    const Picture stored = stored_as(upright, orientation);
    const ByteVector file =
        with_chunk(test::encode_png(stored), exif(orientation, orientation % 2));
    CHECK(exif_orientation(file) == orientation);
    CHECK(largest_difference(decode_picture(file, "file", 1), upright) == 0);
    Preprocessing how;
    how.channels = 1;
    how.as_stored = true;
    CHECK(largest_difference(decode_for(file, "file", how), stored) == 0);
  }
  const std::string whole = exif(6, true);
  for (size_t bytes = 6; bytes < whole.size() - 6; ++bytes)
    CHECK(exif_orientation(with_chunk(test::encode_png(upright), whole.substr(0, bytes))) == 1);
}

TEST_CASE("orientation: a picture that is decoded at a reduced size is turned too") {
  const Picture stored = stored_as(blocks(), 6);
  const ByteVector file = with_block(test::encode_jpeg(stored, 100), exif(6, true));
  Preprocessing how;
  how.channels = 1;
  how.height = kRows;
  how.width = kColumns;
  const auto sample_of = [&](ByteView jpeg) {
    std::vector<uint8_t> sample(kRows * kColumns);
    prepare_sample(decode_for(jpeg, "file", how), how, nullptr, sample.data());
    return sample;
  };
  const std::vector<uint8_t> turned = sample_of(file);
  const std::vector<uint8_t> upright = sample_of(test::encode_jpeg(blocks(), 100));
  for (size_t i = 0; i < turned.size(); ++i) {
    CHECK(std::abs(turned[i] - upright[i]) < 3);
    CHECK(upright[i] > (i ? upright[i - 1] : 0));
  }
}

TEST_CASE("orientation: the header gives the upright size") {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Picture stored = stored_as(blocks(), orientation);
    const ByteVector file = with_block(test::encode_jpeg(stored, 100), exif(orientation, true));
    for (const bool as_stored : {false, true}) {
      const PictureSize size = upright_size(file, "file", as_stored);
      const Picture decoded = decode_picture_portable(file, "file", 1, as_stored);
      CHECK(size.height == decoded.height);
      CHECK(size.width == decoded.width);
      CHECK(size.height == (as_stored ? stored.height : kBlock * kRows));
    }
  }
}

TEST_CASE("orientation: damaged blocks leave the picture as it is stored") {
  const ByteVector jpeg = test::encode_jpeg(blocks(), 100);
  const std::string whole = exif(6, true);
  for (size_t bytes = 0; bytes < whole.size() - 6; ++bytes)
    CHECK(exif_orientation(with_block(jpeg, whole.substr(0, bytes))) == 1);
  CHECK(exif_orientation(with_block(jpeg, exif(0, true))) == 1);
  CHECK(exif_orientation(with_block(jpeg, exif(9, false))) == 1);
  std::string far = whole;
  far[10] = '\x7f';  // the directory lies behind the block
  CHECK(exif_orientation(with_block(jpeg, far)) == 1);
  CHECK(exif_orientation({}) == 1);
}
