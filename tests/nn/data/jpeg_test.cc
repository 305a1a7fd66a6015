// SPDX-License-Identifier: MIT
// Compares decoded JPEG files with the surface that tests/nn/data/make_jpegs.py drew. If
// libjpeg-turbo is installed, a second build of the test uses stb_image.
#include "nn/data/jpeg.h"

#include <algorithm>
#include <cmath>

#include "nn/data/iterator.h"
#include "tests/nn/data/pictures.h"
#include "tests/nn/io/damage.h"
#include "tests/support/folder.h"
#include "tests/support/source_dir.h"

using namespace kaiseki;
using namespace kaiseki::nn;

namespace {

constexpr const char* kNames[] = {"gray",        "one_pixel", "full_color", "half_color",
                                  "progressive", "cmyk",      "ycck"};

ByteVector stored(const std::string& name) {
  return read_file(std::filesystem::path(test::source_dir()) / "tests/nn/data/jpeg" /
                   (name + ".jpg"));
}

double surface(int x, int y, int c) {
  return 128 + 60 * std::cos(0.11 * x + 0.7 * c) + 50 * std::sin(0.09 * y - 0.5 * c);
}

struct Difference {
  double largest = 0, mean = 0;
};

/// The difference from the drawn surface. A fifth of black removes a fifth of the light.
Difference from_surface(const Picture& picture, double light) {
  Difference found;
  size_t i = 0;
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      for (int c = 0; c < picture.channels; ++c) {
        const double d = std::abs(picture.pixels[i++] - light * surface(x, y, c));
        found.largest = std::max(found.largest, d);
        found.mean += d;
      }
  found.mean /= static_cast<double>(i);
  return found;
}

Difference between(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  Difference found;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    found.largest = std::max(found.largest, d);
    found.mean += d;
  }
  found.mean /= static_cast<double>(a.size());
  return found;
}

}  // namespace

TEST_CASE("JPEG: decodes gray, color, CMYK and YCCK, baseline and progressive") {
  for (const std::string name : kNames) {
    CAPTURE(name);
    const Picture picture = decode_picture(stored(name), name);
    CHECK(picture.channels == (name == "gray" ? 1 : 3));
    CHECK(picture.eighths == 8);
    const bool ink = name == "cmyk" || name == "ycck";
    const Difference found = from_surface(picture, ink ? 0.8 : 1.0);
    // Quality 95 rounds coefficients to steps of up to 10. Color of half the resolution is
    // interpolated.
    CHECK(found.largest <= 8);
    CHECK(found.mean <= 2);
  }
}

TEST_CASE("JPEG: has the requested number of channels") {
  for (const std::string name : {"gray", "full_color", "progressive", "cmyk"}) {
    CAPTURE(name);
    const Picture own = decode_picture(stored(name), name);
    const Picture gray = decode_picture(stored(name), name, 1);
    const Picture color = decode_picture(stored(name), name, 3);
    CHECK(gray.channels == 1);
    CHECK(color.channels == 3);
    for (size_t i = 0; i < gray.pixels.size(); ++i) {
      const double r = color.pixels[3 * i], g = color.pixels[3 * i + 1],
                   b = color.pixels[3 * i + 2];
      // Colors are rounded and clamped once more than gray.
      CHECK(std::abs(gray.pixels[i] - (0.299 * r + 0.587 * g + 0.114 * b)) <= 2);
    }
    CHECK((own.channels == 1 ? gray : color).pixels == own.pixels);
  }
}

TEST_CASE("JPEG: a truncated file throws ParseError with its name") {
  for (const std::string name : kNames) {
    CAPTURE(name);
    const ByteVector file = stored(name);
    test::check_truncated([](ByteView part) { decode_picture(part, "x.jpg"); }, file);
    const std::string text = test::parse_error(
        [&] { decode_picture(ByteView(file).first(file.size() / 2), "cut.jpg"); });
    CHECK(text.find("cut.jpg") != std::string::npos);
  }
}

TEST_CASE("JPEG: codes that end before the end marker throw ParseError") {
  for (const std::string name : {"gray", "full_color", "half_color", "cmyk", "ycck", "large"})
    for (const size_t missing : {size_t{8}, stored(name).size() / 8}) {
      CAPTURE(name);
      CAPTURE(missing);
      ByteVector file = stored(name);
      file.erase(file.end() - 2 - static_cast<ptrdiff_t>(missing), file.end() - 2);
      CHECK(!test::parse_error([&] { decode_picture(file, "x.jpg"); }).empty());
    }
}

// A JPEG has no checksum. In some files the changed bytes are codes of exactly as many pixels.
TEST_CASE("JPEG: nearly all runs of 120 changed bytes throw ParseError") {
  const ByteVector file = stored("large");
  const ByteView marker = as_bytes("\xff\xda");
  const auto scan = static_cast<size_t>(
      std::search(file.begin(), file.end(), marker.begin(), marker.end()) - file.begin() + 14);
  Random random(5);
  int accepted = 0;
  for (int round = 0; round < 50; ++round) {
    ByteVector changed = file;
    const size_t at = scan + random.below(file.size() - scan - 122);
    for (size_t i = at; i < at + 120; ++i) changed[i] = static_cast<std::byte>(random.next());
    accepted += test::parse_error([&] { decode_picture(changed, "x.jpg"); }).empty();
  }
  CHECK(accepted <= 10);
}

TEST_CASE("JPEG: changed bytes give a picture or an error, reproducibly") {
  for (const std::string name : {"gray", "half_color", "progressive", "ycck"}) {
    ByteVector file = stored(name);
    Random random(3);
    for (int round = 0; round < 300; ++round) {
      const size_t at = random.below(file.size());
      const std::byte before = file[at];
      file[at] = static_cast<std::byte>(random.next());
      std::vector<uint8_t> pixels[2];
      std::string problems[2];
      for (int i : {0, 1})
        problems[i] = test::parse_error([&] { pixels[i] = decode_picture(file, "x.jpg").pixels; });
      CHECK(pixels[0] == pixels[1]);
      CHECK(problems[0] == problems[1]);
      file[at] = before;
    }
  }
}

TEST_CASE("JPEG: a size too large for the file throws ParseError and allocates nothing") {
  ByteVector file = stored("half_color");
  const ByteView marker = as_bytes("\xff\xc0");
  auto sides = std::search(file.begin(), file.end(), marker.begin(), marker.end()) + 5;
  auto decode = [](ByteView bytes) { decode_picture(bytes, "x.jpg"); };
  std::fill_n(sides, 4, std::byte{0x3f});
  CHECK(test::refuses(decode, file, "x.jpg: header: expected at most"));
  for (const int side : {16385, 32639, 65000}) {
    for (const int at : {0, 2}) {
      sides[at] = static_cast<std::byte>(side >> 8);
      sides[at + 1] = static_cast<std::byte>(side & 255);
    }
    const std::string number = std::to_string(side);
    CHECK(test::refuses(decode, file,
                        "sides of at most 16384 pixels, got " + number + " x " + number));
  }
  std::fill_n(sides, 4, std::byte{0xff});
  CHECK(test::refuses(decode, file, "x.jpg: header"));
  std::fill_n(sides, 4, std::byte{0});
  CHECK(test::refuses(decode, file, "x.jpg: header"));
}

TEST_CASE("JPEG: libjpeg-turbo throws ParseError for too many progressive scans") {
  std::string text("\xff\xd8\xff\xdb\x00\x43\x00", 7);
  text += std::string(64, '\x01');
  text += std::string("\xff\xc2\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00", 13);
  for (char table : {'\0', '\x10'})
    text += std::string("\xff\xc4\x00\x14", 4) + table + '\x01' + std::string(16, '\0');
  text += std::string("\xff\xda\x00\x08\x01\x01\x00\x00\x00\x00\x3f", 11);
  const std::string scan("\xff\xda\x00\x08\x01\x01\x00\x01\x3f\x00\x3f", 11);
  auto decode = [&](int scans) {
    std::string file = text;
    for (int i = 0; i < scans; ++i) file += scan;
    file += "\xff\xd9";
    return test::parse_error([&] { decode_picture(as_bytes(file), "x.jpg"); });
  };
  CHECK(decode(90).empty());
  const bool turbo = std::string(jpeg_decoder()) == "libjpeg-turbo";
  CHECK(decode(110).empty() == !turbo);
}

TEST_CASE("JPEG: decoding at a reduced size agrees with resizing, for all sizes and crops") {
  const ByteVector file = stored("large");  // 203 x 151
  for (int resize : {150, 140, 100, 76, 75, 40, 38, 19, 18, 5}) {
    CAPTURE(resize);
    const int side = std::max(1, resize - 3);
    const Preprocessing how{
        .channels = 3, .height = side, .width = side, .resize = resize, .random_crop = true};
    const Picture whole = decode_picture(file, "large"), part = decode_for(file, "large", how);
    CHECK(std::min(part.height, part.width) >= resize);
    for (uint64_t seed : {0, 1, 2}) {
      std::vector<uint8_t> from_whole(static_cast<size_t>(3 * side * side)), from_part = from_whole;
      Random one(seed), other(seed);
      prepare_sample(whole, how, &one, from_whole.data());
      prepare_sample(part, how, &other, from_part.data());
      const Difference found = between(from_whole, from_part);
      // Compares a box filter followed by a triangle filter with one triangle filter. Over 8 pixels
      // they damp the surface's waves of 110 levels by 3 % and 6 %. At the edges they damp more.
      CHECK(found.mean <= 3.0);
      CHECK(found.largest <= 12.0);
    }
  }
}

TEST_CASE("JPEG: is decoded at full size if it is not scaled down") {
  const ByteVector file = stored("large");
  for (const Preprocessing& how : {Preprocessing{.channels = 3},
                                   {.channels = 3, .height = 151, .width = 203},
                                   {.channels = 3, .height = 8, .width = 8, .resize = 200}}) {
    const Picture picture = decode_for(file, "large", how);
    CHECK(picture.height == 151);
    CHECK(picture.width == 203);
    CHECK(picture.pixels == decode_picture(file, "large", 3).pixels);
  }
}

TEST_CASE("JPEG: scaled samples do not depend on the cache, the workers or other data sets") {
  test::Folder folder;
  for (const std::string name : {"a/0.jpg", "a/1.jpg", "a/2.jpg", "b/0.jpg", "b/1.jpg"}) {
    std::filesystem::create_directories((folder.path / name).parent_path());
    write_file_atomic(folder.path / name, stored(name == "a/1.jpg" ? "progressive" : "large"));
  }
  DataOptions options;
  options.spec = folder.path.string();
  options.preprocessing = {
      .channels = 3, .height = 20, .width = 20, .resize = 24, .random_crop = true, .flip = true};
  auto two_epochs = [&](uint64_t cache_bytes, int workers) {
    options.cache_bytes = cache_bytes;
    const std::shared_ptr<const Dataset> data = open_dataset(options);
    Iterator iterator(data, {.batch_size = 1, .workers = workers});
    std::vector<uint8_t> all;
    Batch batch;
    for (int i = 0; i < 6; ++i) {
      REQUIRE(iterator.next(batch));
      for (uint8_t value : batch.images.to_vector<uint8_t>()) all.push_back(value);
    }
    return all;
  };
  const std::vector<uint8_t> first = two_epochs(0, 1);
  CHECK(first == two_epochs(0, 3));
  CHECK(first == two_epochs(1 << 20, 1));
  CHECK(first == two_epochs(1 << 20, 3));

  DataOptions digits;
  digits.spec = "digits:5";
  const std::shared_ptr<const Dataset> other = open_dataset(digits), data = open_dataset(options);
  const std::vector<uint8_t> before = test::sample_of(*other, 3);
  test::sample_of(*data, 0);
  CHECK(test::sample_of(*other, 3) == before);
}
