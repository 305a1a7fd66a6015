// SPDX-License-Identifier: MIT
#include "nn/data/picture.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/nn/data/pictures.h"
#include "tests/nn/io/damage.h"
#include "tests/support/encode_picture.h"
#include "tests/support/folder.h"

using namespace kaiseki;
using namespace kaiseki::nn;

namespace {

void decode(ByteView file) { decode_picture(file, "x.png"); }

using Pixels = std::vector<int>;

Pixels prepared(const Picture& picture, const Preprocessing& how, Random* random = nullptr) {
  std::vector<uint8_t> out(static_cast<size_t>(how.channels) * how.height * how.width);
  prepare_sample(picture, how, random, out.data());
  return {out.begin(), out.end()};
}

}  // namespace

TEST_CASE("PNG: an encoded picture is decoded exactly, in the requested channels") {
  for (int channels : {1, 3}) {
    Picture picture = test::pattern(5, 7, channels);
    Picture read = decode_picture(test::encode_png(picture), "x");
    CHECK(read.channels == channels);
    CHECK(read.height == 5);
    CHECK(read.width == 7);
    CHECK(read.pixels == picture.pixels);
    CHECK(decode_picture(test::encode_png(picture), "x", 4 - channels).channels == 4 - channels);
  }
}

TEST_CASE("JPEG: is decoded, and a truncated file throws ParseError") {
  ByteVector file = test::tiny_jpeg();
  Picture picture = decode_picture(file, "x");
  CHECK(picture.height == 8);
  CHECK(picture.channels == 1);
  for (uint8_t pixel : picture.pixels) CHECK(std::abs(pixel - 128) <= 1);
  test::check_truncated(decode, file);
  test::check_changed(decode, file, 2000);
}

TEST_CASE("JPEG: more codes than a table holds throw ParseError") {
  ByteVector file = test::tiny_jpeg();
  ByteView marker = as_bytes("\xff\xc4");
  auto table = std::search(file.begin(), file.end(), marker.begin(), marker.end());
  std::fill_n(table + 5, 16, std::byte{0xff});
  CHECK(test::refuses(decode, file, "x.png: "));
}

TEST_CASE("JPEG: undefined tables give a reproducible result") {
  std::vector<int> file = {0xff, 0xd8, 0xff, 0xdb, 0, 67, 0};
  file.insert(file.end(), 64, 1);
  for (int byte : {0xff, 0xc0, 0, 11, 8, 0, 8,    0, 8,  1, 1, 0x11, 0,  // 8x8, one component
                   0xff, 0xda, 0, 8,  1, 1, 0x33, 0, 63, 0})             // tables 3 and 3
    file.push_back(byte);
  file.insert(file.end(), 64, 0x5a);
  for (int byte : {0xff, 0xd9}) file.push_back(byte);
  ByteVector bytes;
  for (int byte : file) bytes.push_back(static_cast<std::byte>(byte));
  auto outcome = [&] {
    std::string pixels;
    const std::string problem = test::parse_error([&] {
      const Picture picture = decode_picture(bytes, "x");
      pixels.assign(picture.pixels.begin(), picture.pixels.end());
    });
    return problem + pixels;
  };
  const std::string first = outcome();
  for (int i = 0; i < 20; ++i) {
    { const std::vector<char> used(static_cast<size_t>(1000 * i), static_cast<char>(i)); }
    CHECK(outcome() == first);
  }
}

TEST_CASE("PNG: a truncated, changed or huge file throws ParseError") {
  ByteVector file = test::encode_png(test::pattern(9, 11, 3));
  test::check_truncated(decode, file);
  for (size_t at = 0; at < file.size(); ++at) {
    ByteVector flipped = file;
    flipped[at] ^= std::byte{4};
    CAPTURE(at);
    CHECK(!test::parse_error([&] { decode(flipped); }).empty());
  }
  ByteVector huge = file;
  for (size_t at : {17, 21}) huge[at + 1] = std::byte{0x3f};
  CHECK(test::refuses(decode, huge, "pixels in a file of this size"));
  for (size_t at : {16, 20}) huge[at] = std::byte{0x7f};
  CHECK(test::refuses(decode, huge, "x.png: header: expected sides of at most 16384 pixels, got "));
  ByteVector hostile = file;
  for (size_t i = 33; i < 36; ++i) hostile[i] = std::byte{0x60};  // the length of the first IDAT
  CHECK(test::refuses(decode, hostile, "x.png: byte 33: expected the rest of a PNG"));
  CHECK(test::refuses(decode, test::bytes_from("GIF89a"), "JPEG or PNG"));
  CHECK(test::refuses(decode, {}, "JPEG or PNG"));
}

TEST_CASE("sample: has the bytes of the picture, by channels") {
  Picture picture = test::pattern(4, 6, 3);
  Preprocessing how{.channels = 3, .height = 4, .width = 6};
  auto sample = prepared(picture, how);
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 6; ++x)
        CHECK(sample[(c * 4 + y) * 6 + x] == picture.pixels[(y * 6 + x) * 3 + c]);
  how.channels = 1;
  CHECK_THROWS_AS(prepared(picture, how), ShapeError);
}

TEST_CASE("sample: without random parts, the crop is in the center") {
  Picture picture = test::pattern(9, 8, 1);
  Preprocessing how{.channels = 1, .height = 5, .width = 4, .resize = 8};
  auto sample = prepared(picture, how);
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 4; ++x) CHECK(sample[y * 4 + x] == picture.pixels[(y + 2) * 8 + x + 2]);
}

TEST_CASE(
    "sample: random crops reach all positions, mirror half of the samples and pad with black") {
  Picture picture = test::pattern(4, 4, 1, 1);
  Preprocessing how{.channels = 1, .height = 4, .width = 4, .padding = 1, .flip = true};
  std::set<Pixels> expected, seen;
  for (int top = -1; top <= 1; ++top)
    for (int left = -1; left <= 1; ++left)
      for (int mirrored = 0; mirrored < 2; ++mirrored) {
        Pixels sample;
        for (int y = 0; y < 4; ++y)
          for (int x = 0; x < 4; ++x) {
            int from_x = (mirrored ? 3 - x : x) + left, from_y = y + top;
            bool inside = from_x >= 0 && from_x < 4 && from_y >= 0 && from_y < 4;
            sample.push_back(inside ? picture.pixels[from_y * 4 + from_x] : 0);
          }
        expected.insert(sample);
      }
  CHECK(expected.size() == 18);
  Random random(5);
  for (int i = 0; i < 600; ++i) seen.insert(prepared(picture, how, &random));
  CHECK(seen == expected);
}

TEST_CASE("resize: keeps a constant picture, uses bilinear weights and covers the sample") {
  Picture flat{13, 7, 3, std::vector<uint8_t>(13 * 7 * 3, 201)};
  for (auto [h, w] : {std::pair{1, 1}, {5, 3}, {13, 7}, {40, 50}})
    for (uint8_t pixel : resize_picture(flat, h, w).pixels) CHECK(pixel == 201);
  Picture two{1, 2, 1, {0, 200}};
  CHECK(resize_picture(two, 1, 4).pixels == std::vector<uint8_t>{0, 50, 150, 200});
  CHECK(resize_picture({1, 4, 1, {0, 100, 100, 200}}, 1, 2).pixels ==
        std::vector<uint8_t>{57, 143});  // weights 3, 3, 1 of 7
  Preprocessing how{.channels = 3, .height = 20, .width = 31};
  for (uint8_t value : prepared(flat, how)) CHECK(value == 201);
}

TEST_CASE("picture: a file is read as one sample") {
  test::Folder folder;
  write_file_atomic(folder.path / "a.png", test::encode_png(test::pattern(3, 5, 3)));
  CHECK(read_picture(folder.path / "a.png", {}).shape() == Shape{1, 3, 3, 5});
  CHECK(read_picture(folder.path / "a.png", {.channels = 1, .height = 2, .width = 2}).shape() ==
        Shape{1, 1, 2, 2});
}

TEST_CASE("resize: a crop equals the part of the resized picture, and only it is computed") {
  const Picture picture = test::pattern(9, 4, 3);
  const Preprocessing how{
      .channels = 3, .height = 6, .width = 7, .padding = 2, .random_crop = true};
  const Picture whole = resize_picture(picture, 16, 7);
  std::set<Pixels> crops, seen;
  for (int top = -2; top <= 12; ++top)
    for (int left = -2; left <= 2; ++left) {
      Pixels sample;
      for (int c = 0; c < 3; ++c)
        for (int y = top; y < top + 6; ++y)
          for (int x = left; x < left + 7; ++x) {
            const bool inside = y >= 0 && y < 16 && x >= 0 && x < 7;
            sample.push_back(inside ? whole.pixels[(y * 7 + x) * 3 + c] : 0);
          }
      crops.insert(sample);
    }
  CHECK(crops.size() == 75);
  Random random(7);
  for (int i = 0; i < 2000; ++i) seen.insert(prepared(picture, how, &random));
  CHECK(seen == crops);

  // The whole resized picture has 2 GB.
  const Picture line{16384, 1, 3, std::vector<uint8_t>(16384 * 3, 51)};
  const Preprocessing square{.channels = 3, .height = 224, .width = 224, .random_crop = true};
  test::reset_largest_allocation();
  const Pixels sample = prepared(line, square, &random);
  CHECK(test::largest_allocation() < 4 << 20);
  CHECK(sample == Pixels(sample.size(), 51));
}
